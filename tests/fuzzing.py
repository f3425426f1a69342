"""Random damage to what the command line reads, and what must hold whatever comes in.

A case ends with exit code 0, 1 or 2 and no traceback; refused input leaves no file behind; every file that is
written is whole; and whatever is answered agrees with arithmetic in fractions on the numbers of the model file.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from fractions import Fraction
from pathlib import Path

import typer
from hypothesis import strategies as st

from command_line import stepnet
from stepnet import load
from stepnet.cli.app import app

CSV = "a,b,color,y\n0,0,red,calm\n0,1,blue,wild\n1,0,red,wild\n1,1,blue,calm\n2.5,1,red,calm\n"
FITS = {
    "binary": ("--hidden", "2", "--drop", "color"),
    "encoded": ("--hidden", "2", "--encode", "one_hot", "--impute", "median"),
    "ternary": ("--hidden", "2", "--drop", "color", "--weights", "ternary"),
    "numbers": ("--hidden", "1", "--drop", "y", "--drop", "color", "--task", "regression"),
}
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([10**400, -1, 2**63, 1e308, -1e-320, 0.1]),
    st.text(max_size=6),
    st.sampled_from(["real", "step", "__import__('os').system('touch hacked')", "NaN", "<script>", "\x00", "O", "<M8"]),
    st.lists(st.integers(0, 2), max_size=3),
    st.dictionaries(st.text(max_size=3), st.integers(0, 2), max_size=2),
)


def make_models(folder: Path) -> None:
    """The files that are damaged later."""
    (folder / "t.csv").write_text(CSV)
    for name, options in FITS.items():
        target = "b" if name == "numbers" else "y"
        done = stepnet("fit", "t.csv", "--target", target, *options, "--out", f"{name}.json", cwd=folder)
        assert done.returncode == 0, done.stderr
    (folder / "model.json").write_bytes((folder / "binary.json").read_bytes())


def paths_of(content: object, path: tuple = ()) -> list[tuple]:
    """Every place in a JSON value."""
    items = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    return [path, *(place for key, item in items for place in paths_of(item, (*path, key)))]


@st.composite
def damaged_models(draw, models: dict[str, str]) -> bytes:
    text = models[draw(st.sampled_from(sorted(models)))]
    if draw(st.integers(0, 3)) == 0:
        raw = bytearray(text.encode())
        at = draw(st.integers(0, len(raw) - 1))
        how = draw(st.sampled_from(["cut", "flip", "insert"]))
        if how == "cut":
            return bytes(raw[:at])
        raw[at : at + (how == "flip")] = bytes([draw(st.integers(0, 255))])
        return bytes(raw)
    content = json.loads(text)
    for _ in range(draw(st.integers(1, 2))):
        *way, last = draw(st.sampled_from(paths_of(content)[1:]))
        place = content
        for key in way:
            place = place[key]
        if draw(st.booleans()):
            place[last] = draw(ODD)
        else:
            del place[last]
        if not paths_of(content)[1:]:
            break
    return json.dumps(content).encode()


CELL = st.one_of(
    st.sampled_from(["", "NA", "0", "1", "2.5", "-1e308", "1e-320", "inf", "x", '"', "a,b", "é", "\x00", " 3 ", "1_0"]),
    st.text(max_size=4),
)


@st.composite
def tables(draw) -> bytes:
    """A table with odd cells, or something like a CSV file."""
    if draw(st.booleans()):
        rows = list(csv.reader(io.StringIO(CSV)))
        for _ in range(draw(st.integers(0, 2))):
            at = draw(st.integers(0 if draw(st.integers(0, 4)) == 0 else 1, len(rows) - 1))
            rows[at][draw(st.integers(0, len(rows[at]) - 1))] = draw(CELL)
    else:
        names = st.sampled_from(["a", "b", "color", "y", "", "a b", "ü", '"'])
        width = draw(st.integers(1, 5))
        rows = [draw(st.lists(names, min_size=width, max_size=width))]
        rows += draw(st.lists(st.lists(CELL, min_size=width, max_size=width), max_size=6))
    if draw(st.integers(0, 6)) == 0:
        rows.append(draw(st.lists(CELL, max_size=6)))
    text = io.StringIO()
    csv.writer(text, delimiter=draw(st.sampled_from(",;\t"))).writerows(rows)
    raw = text.getvalue().encode("utf-8", "surrogatepass")
    return raw if draw(st.integers(0, 9)) else draw(st.binary(max_size=30)) + raw


@st.composite
def configurations(draw) -> str:
    """Mostly options of fit with values that they take, now and then something odd."""
    good = ["hidden = 2", "hidden = [2, 2]", "gap = 0.5", "random-state = 3", "encode = 'one_hot'", "impute = 0"]
    good += ["weights = 'ternary'", "method = 'search'", "json = true", "activation = 'sign'", "drop = ['color']"]
    odd = ["hiden = 2", "fit = 3", "hidden = {a = 1}", "gap = nan", "n_jobs = 0", "threshold = 1e400", "loss = [[1]]"]
    odd += [
        "target = 1979-05-27",
        'weights = "\\u0000"',
        "encode = true",
        "[x]",
        "[[fit]]",
        "drop = ''",
        "time_limit = -1",
    ]
    lines = draw(st.lists(st.sampled_from(good), max_size=3, unique=True))
    if draw(st.booleans()):
        lines.insert(0, "[fit]")
    if draw(st.integers(0, 2)) == 0:
        lines.append(draw(st.sampled_from(odd)))
    text = "\n".join(lines)
    return text if draw(st.integers(0, 9)) else text + draw(st.text(max_size=8))


COMMANDS = {
    "fit": ["t.csv", "--target", "y", "--drop", "color"],
    "predict": ["model.json", "t.csv"],
    "prove": ["t.csv", "--target", "y", "--drop", "color"],
    "widths": ["t.csv", "--target", "y", "--drop", "color"],
    "tradeoff": ["t.csv", "--target", "y", "--drop", "color", "--at-most", "0"],
    "verify": ["model.json", "t.csv", "--target", "y"],
    "attack": ["model.json", "t.csv"],
    "report": ["model.json", "t.csv", "--target", "y"],
    "export": ["model.json", "--to", "c"],
    "solvers": [],
    "nonsense": [],
}
GOOD = {
    "hidden": "0 1 2 2,2",
    "threshold": "neuron layer 0.5",
    "weights": "real ternary binary 2",
    "activation": "step sign",
    "output": "one_vs_one one_hot",
    "loss": "misclassified hinge 0 1",
    "method": "prove search learn",
    "formulation": "auto tight gates sat",
    "solver": "auto highs scip",
    "sparsity": "3 fewest",
    "raises": "a b",
    "lowers": "b",
    "drop": "color a",
    "norm": "l1 l2 linf",
    "radius": "0 0.1 0.5",
    "gap": "0 0.5",
    "random_state": "0 7",
    "sample_weight": "a b",
    "encode": "one_hot codes",
    "impute": "mean median 0",
    "checkpoint": "c.json",
    "to": "c json rules text markdown html lp",
    "inputs": "floats integers bits",
    "dtype": "float64",
    "check": "t.csv",
    "test": "t.csv",
    "target": "y",
    "most": "1 2",
    "save": "proof",
    "out": "new.json new.out",
    "plot": "new.png",
    "task": "classification",
}
ODD_WORDS = ["", "-1", "1e400", "nan", "é\x01", "x" * 300, "no/where", "--", "2,x", "t.csv", "model.json", "."]


def options_of(command: str) -> list[tuple[str, str, bool]]:
    """Name, spelling and whether it is a flag, of every option that a command has."""
    commands = typer.main.get_command(app).commands
    found = commands[command].params if command in commands else ()
    skipped = ("config", "time_limit", "n_jobs", "help")
    return [
        (one.name, one.opts[0], bool(one.is_flag))
        for one in found
        if one.opts[0][:2] == "--" and one.name not in skipped
    ]


@st.composite
def arguments(draw) -> list[str]:
    """Mostly what a command takes, now and then something odd."""
    command = draw(st.sampled_from(sorted(COMMANDS)))
    words, options = [command, *COMMANDS[command]], options_of(command)
    for _ in range(draw(st.integers(0, 3)) if options else 0):
        name, spelling, is_flag = draw(st.sampled_from(options))
        words.append(spelling)
        if not is_flag:
            is_odd = draw(st.integers(0, 9)) == 0
            words.append(draw(st.sampled_from(ODD_WORDS if is_odd else GOOD.get(name, "0 1 y").split())))
    if draw(st.integers(0, 9)) == 0:
        del words[draw(st.integers(0, len(words) - 1))]
    if draw(st.integers(0, 9)) == 0:
        words.append(draw(st.sampled_from(["--xyz", *ODD_WORDS])))
    return [*words, "--time-limit", "1"] if command in ("fit", "prove", "widths", "tradeoff", "verify") else words


OUTCOMES: Counter[int] = Counter()  # exit codes so far


def run(folder: Path, *words: str) -> int:
    """Run a command and check what must hold for all of them."""
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    done = stepnet(*words, cwd=folder)
    after = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert done.returncode in (0, 1, 2), (words, done)
    OUTCOMES[done.returncode] += 1
    assert "Traceback" not in done.stderr, (words, done.stderr)
    assert not any(path.name.startswith(".") or path.name == "hacked" for path in after), (words, after)
    if done.returncode == 2:
        assert (done.stderr or done.stdout).strip(), words  # the help, or what is wrong
        assert before == after, (words, done.stderr)
    for path in after:
        if path not in before and path.suffix == ".json" and b'"stepnet model"' in after[path][:60]:
            load(path)
    if done.returncode == 0 and words[0] == "predict" and "--json" not in words and "--out" not in words:
        check_answers(folder / words[1], folder / words[2], done.stdout)
    return done.returncode


def check_answers(model: Path, table: Path, printed: str) -> None:
    """Predictions against fractions; only for tables of plain numbers, and classes."""
    content = json.loads(model.read_text())
    if content["columns"] is not None or "classes" not in content["targets"]:
        return
    text = table.read_text(encoding="utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text), delimiter=max(",;\t", key=text.splitlines()[0].count)))
    names = content["feature_names"] or list(rows[0])
    wanted = [
        content["targets"]["classes"][answer(content["network"], [Fraction(float(row[name])) for name in names])]
        for row in rows
    ]
    found = [line for (line,) in list(csv.reader(io.StringIO(printed)))[1:]]
    assert found == [str(one) for one in wanted], (found, wanted)


def answer(network: dict, signals: list[Fraction]) -> int:
    """The answer of step layers, by the book."""
    for layer in network["layers"]:
        values = [
            sum(Fraction(w) * h for w, h in zip(weights, signals, strict=True)) - Fraction(threshold)
            for weights, threshold in zip(layer["weights"], layer["thresholds"], strict=True)
        ]
        if layer["activation"] == "argmax":
            return values.index(max(values))
        assert layer["activation"] == "step", layer["activation",]
        signals = [Fraction(int(value >= 0)) for value in values]
    return int(signals[0])


def _damaged_model(folder: Path, draw) -> None:
    models = {name: (folder / f"{name}.json").read_text() for name in FITS}
    (folder / "d.json").write_bytes(draw(damaged_models(models)))
    run(folder, "predict", "d.json", "t.csv")
    last = draw(st.sampled_from(["verify", "attack", "report", "c", "rules", "json"]))
    if last in ("verify", "report"):
        run(folder, last, "d.json", "t.csv", "--target", "y")
    elif last == "attack":
        run(folder, "attack", "d.json", "t.csv", "--out", "moved.csv")
    else:
        run(folder, "export", "d.json", "--to", last, "--out", "exported")


def _odd_table(folder: Path, draw) -> None:
    (folder / "odd.csv").write_bytes(draw(tables()))
    choices = draw(st.sampled_from([(), ("--encode", "one_hot"), ("--impute", "median"), FITS["encoded"][2:]]))
    fit = ("fit", "odd.csv", "--target", "y", "--hidden", "1", "--method", "search", "--time-limit", "0.3")
    if run(folder, *fit, *choices, "--out", "new.json") == 0:
        assert run(folder, "verify", "new.json", "odd.csv", "--target", "y") == 0
        assert run(folder, "predict", "new.json", "odd.csv") == 0
    run(folder, "predict", "model.json", "odd.csv")


def _odd_configuration(folder: Path, draw) -> None:
    (folder / "c.toml").write_text(draw(configurations()), encoding="utf-8", errors="surrogatepass")
    fit = ("fit", "t.csv", "--target", "y", "--config", "c.toml", "--drop", "color", "--time-limit", "0.3")
    run(folder, *fit, "--out", "new.json")


def _odd_arguments(folder: Path, draw) -> None:
    run(folder, *draw(arguments()))


CASES = {
    "model files": _damaged_model,
    "tables": _odd_table,
    "configurations": _odd_configuration,
    "arguments": _odd_arguments,
}
