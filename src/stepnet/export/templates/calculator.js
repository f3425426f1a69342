"use strict";
(() => {
const model = JSON.parse(document.getElementById("model").textContent);

// Doubles are integers times powers of two, so sums of products are exact in BigInt.
const view = new DataView(new ArrayBuffer(8));
function dyadic(x) {
  view.setFloat64(0, x);
  const bits = view.getBigUint64(0), exponent = Number((bits >> 52n) & 2047n);
  const fraction = bits & ((1n << 52n) - 1n);
  const size = exponent ? fraction | (1n << 52n) : fraction;
  return [bits >> 63n ? -size : size, (exponent || 1) - 1075];
}
function exactSum(weights, inputs, end) {
  const terms = [dyadic(-end)];
  weights.forEach((w, i) => {
    if (w === 0 || inputs[i] === 0) return;
    const [a, p] = dyadic(w), [b, q] = dyadic(inputs[i]);
    terms.push([a * b, p + q]);
  });
  const lowest = Math.min(...terms.map(term => term[1]));
  return [terms.reduce((total, [n, e]) => total + (n << BigInt(e - lowest)), 0n), lowest];
}
function compare([a, p], [b, q]) {
  const lowest = Math.min(p, q);
  const left = a << BigInt(p - lowest), right = b << BigInt(q - lowest);
  return left < right ? -1 : left > right ? 1 : 0;
}
function rounded([n, e]) {
  if (n === 0n) return 0;
  const size = n < 0n ? -n : n, extra = Math.max(0, size.toString(2).length - 64);
  return Number(n >> BigInt(extra)) * 2 ** (e + extra);
}

const operations = {add: (x, n) => x + n, subtract: (x, n) => x - n, multiply: (x, n) => x * n, divide: (x, n) => x / n};

// The answer for features before their operations: its code, the outputs of all layers, the values of the last.
function evaluate(features) {
  let inputs = features.map((x, i) => model.arithmetic[i].reduce((y, [name, n]) => operations[name](y, n), x));
  const outputs = [];
  let sums = [], code = 0;
  for (const layer of model.layers) {
    sums = layer.weights.map((weights, j) => layer.thresholds[j].map(end => exactSum(weights, inputs, end)));
    const levels = sums.map(own => own.filter(([n]) => n >= 0n).length);
    if (layer.kind === "argmax") {
      code = sums.reduce((best, own, j) => compare(own[0], sums[best][0]) > 0 ? j : best, 0);
    } else {
      code = levels[0];
      inputs = levels.map(level => layer.values[level]);
    }
    outputs.push(inputs);
  }
  return {code, outputs, values: sums.map(own => rounded(own[0]))};
}

function between(values, shares, value) {  // on the line between two known values, as numpy.interp
  const next = values.findIndex(one => one > value);
  if (next === 0) return shares[0];
  if (next < 0) return shares[shares.length - 1];
  const part = (value - values[next - 1]) / (values[next] - values[next - 1]);
  return shares[next - 1] + part * (shares[next] - shares[next - 1]);
}
function probability(found) {
  const {slope, offsets, values, shares} = model.calibration;
  if (shares) {
    const one = between(values, shares, found.values[0]);
    return found.code === 1 ? Math.max(one, 0.5) : 1 - Math.min(one, 0.5);
  }
  if (found.values.length === 1) {
    const one = 1 / (1 + Math.exp(-(slope * found.values[0] + offsets[0])));
    return found.code === 1 ? one : 1 - one;
  }
  const scores = found.values.map((value, j) => slope * value + offsets[j]), top = Math.max(...scores);
  const parts = scores.map(score => Math.exp(score - top));
  return parts[found.code] / parts.reduce((a, b) => a + b, 0);
}

// Fields: numbers, or choices that stand for the numbers of one or more features.
const inputs = model.fields.map((_, i) => document.getElementById("field-" + i));
function numbersOf(field, text) {
  if (field.choices) return field.choices[Number(text)].numbers;
  if (text.trim() === "") return field.fill === null ? null : [field.fill];
  const number = Number(text);
  return Number.isFinite(number) ? [number] : null;
}
function featuresOf(texts) {
  const features = new Array(model.arithmetic.length).fill(0);
  for (const [i, field] of model.fields.entries()) {
    const numbers = numbersOf(field, texts[i]);
    if (numbers === null) return null;
    field.features.forEach((feature, place) => { features[feature] = numbers[place]; });
  }
  return features;
}
const codeOf = texts => { const features = featuresOf(texts); return features === null ? null : evaluate(features).code; };
const replaced = (texts, i, text) => texts.map((old, k) => k === i ? text : old);

// Numbers of one field at which a neuron of the first layer switches; all answers lie between them.
function switches(texts, i) {
  const field = model.fields[i], features = featuresOf(texts), found = [];
  const at = features[field.features[0]], feature = field.features[0];
  for (const {weights, end} of model.planes) {
    if (weights[feature] === 0) continue;
    const lead = rounded(exactSum(weights, features, end));
    found.push(at - lead / weights[feature]);
  }
  return found.filter(Number.isFinite);
}
// The numeral with the fewest digits at or beyond a number, seen from where the field is now, that changes the answer.
function numeral(texts, i, code, beyond, from, up) {
  const field = model.fields[i];
  const works = text => {
    const number = Number(text);
    return number >= field.low && number <= field.high && codeOf(replaced(texts, i, text)) !== code;
  };
  if (field.whole) {
    const first = up ? Math.ceil(beyond) : Math.floor(beyond);
    for (const number of up ? [first - 1, first, first + 1] : [first + 1, first, first - 1]) {
      if ((up ? number > from : number < from) && works(String(number))) return String(number);
    }
    return null;
  }
  for (let digits = 2; digits <= 17; digits++) {
    const unit = 10 ** (Math.floor(Math.log10(Math.abs(beyond) || 1)) + 1 - digits);
    const steps = up ? Math.ceil(beyond / unit) : Math.floor(beyond / unit);
    for (const step of [steps, up ? steps + 1 : steps - 1]) {
      const text = String(Number((step * unit).toPrecision(digits)));
      const isNear = Math.abs(Number(text) - beyond) <= 0.01 * Math.abs(beyond - from) || digits > 12;
      if (isNear && (up ? Number(text) > from : Number(text) < from) && works(text)) return text;
    }
  }
  return null;
}
// For one field, the nearest other entries that change the answer.
function changes(texts, i, code) {
  const field = model.fields[i];
  if (field.choices) {
    return field.choices.map((_, k) => String(k)).filter(k => codeOf(replaced(texts, i, k)) !== code)
      .map(k => ({text: k, shown: field.choices[Number(k)].label, share: 1}));
  }
  if (numbersOf(field, texts[i]) === null) return [];
  const from = numbersOf(field, texts[i])[0], found = [];
  const ends = switches(texts, i).sort((a, b) => a - b);
  for (const up of [true, false]) {
    const side = up ? ends.filter(end => end >= from) : ends.filter(end => end <= from).reverse();
    for (const end of side) {
      const text = numeral(texts, i, code, end, from, up);
      if (text !== null) {
        const range = field.high - field.low || 1;
        found.push({text, shown: text, share: Math.abs(Number(text) - from) / range});
        break;
      }
    }
  }
  return found;
}

function element(tag, text) {
  const made = document.createElement(tag);
  made.textContent = text;
  return made;
}
const short = number => String(Number(number.toPrecision(5)));

function show() {
  const texts = inputs.map(input => input.value), answer = document.getElementById("answer");
  const features = featuresOf(texts), note = document.getElementById("note"), list = document.getElementById("changes");
  list.replaceChildren();
  inputs.forEach((input, i) => {
    const isBad = numbersOf(model.fields[i], texts[i]) === null;
    input.setAttribute("aria-invalid", String(isBad));
  });
  if (features === null) {
    answer.textContent = "–";
    note.textContent = "Fill in all fields with numbers.";
    document.querySelectorAll("tr[data-neuron]").forEach(row => row.classList.remove("on"));
    return;
  }
  const found = evaluate(features);
  answer.textContent = model.classes[found.code];
  const outside = model.fields.filter((field, i) => !field.choices && field.known
    && (numbersOf(field, texts[i])[0] < field.low || numbersOf(field, texts[i])[0] > field.high)).map(field => field.name);
  const notes = [];
  if (model.calibration) notes.push("Probability " + (100 * probability(found)).toFixed(1) + " %.");
  if (outside.length) notes.push("Outside the range of the training rows: " + outside.join(", ") + ".");
  note.textContent = notes.join(" ");
  let total = 0;
  document.querySelectorAll("tr[data-neuron]").forEach(row => {
    const [k, j] = row.dataset.neuron.split(" ").map(Number), value = found.outputs[k][j];
    const values = model.layers[k].values, isOn = value === values[values.length - 1];
    row.classList.toggle("on", isOn);
    row.querySelector(".state").textContent = values.length === 2 && values[0] === 0 ? model.states[Number(isOn)] : short(value);
    const adds = row.querySelector(".adds");
    if (adds.dataset.weight) {
      const added = Number(adds.dataset.weight) * value;
      total += added;
      adds.textContent = short(added);
    }
  });
  const cell = document.getElementById("total");
  if (cell) cell.textContent = short(total);
  const all = model.fields.flatMap((field, i) => changes(texts, i, found.code).map(one => ({field, i, ...one})));
  all.sort((a, b) => a.share - b.share);
  for (const {field, i, text, shown} of all.slice(0, 6)) {
    const now = field.choices ? field.choices[Number(texts[i])].label : texts[i] || "empty";
    const then = model.classes[codeOf(replaced(texts, i, text))];
    list.append(element("li", `${then} if ${field.name} were ${shown} instead of ${now}`));
  }
  if (!all.length) list.append(element("li", "No other entry in a single field, within its range, changes the answer."));
}

document.getElementById("fields").addEventListener("input", show);
document.getElementById("fields").addEventListener("submit", event => event.preventDefault());
document.getElementById("fields").addEventListener("reset", () => setTimeout(show));
globalThis.stepnet = {evaluate, featuresOf, changes, model};
show();
})();
