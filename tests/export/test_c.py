"""Exported C gives the answers of predict for every row, and reports what it cannot read."""

import contextlib
import subprocess
from importlib.resources import files

import numpy as np
import pytest

from exported import ACTIVATIONS, CERTIFICATE, autoencoder, fitted, hard_rows, needs_compiler, real, whole
from stepnet.errors import InvalidInputError
from stepnet.export import ExportError, check_export, run_c, size_of, to_c
from stepnet.export.check import compile_c
from stepnet.model.activations.argmax import ARGMAX
from stepnet.model.activations.identity import IDENTITY
from stepnet.model.activations.staircase import STEP, Staircase
from stepnet.model.network import Layer
from stepnet.tables.columns import Column, Columns

pytestmark = needs_compiler
THREE = Staircase((0.0, 1.0, 2.0))


def wide_spread(rng, width, n_inputs, activation=STEP):
    """Weights whose sums no 64-bit integer holds."""
    layer = real(rng, width, n_inputs, activation)
    return layer.with_(layer.weights * 2.0 ** rng.integers(-60, 60, layer.weights.shape), layer.thresholds)


def few_of_many(rng, width, n_inputs, activation=STEP):
    """Three weights per neuron, far apart."""
    layer = whole(rng, width, n_inputs, activation, largest=3)
    weights = np.zeros_like(layer.weights)
    for row in weights:
        row[rng.choice(n_inputs, 3, replace=False)] = rng.choice([-2, -1, 1, 3], 3)
    return layer.with_(weights, layer.thresholds)


NETWORKS = {
    "one neuron": lambda rng: (real(rng, 1, 3),),
    "one neuron of integers": lambda rng: (whole(rng, 1, 4),),
    "real": lambda rng: (real(rng, 5, 4), real(rng, 1, 5)),
    "ternary": lambda rng: (whole(rng, 40, 6), whole(rng, 1, 40)),
    "integers": lambda rng: (whole(rng, 7, 6, largest=5), whole(rng, 1, 7, largest=100)),
    "large integers": lambda rng: (whole(rng, 7, 6), whole(rng, 1, 7, largest=10**6)),
    "wide spread": lambda rng: (wide_spread(rng, 5, 4), wide_spread(rng, 4, 5), wide_spread(rng, 1, 4)),
    "two hidden layers": lambda rng: (real(rng, 34, 3), whole(rng, 33, 34), whole(rng, 1, 33)),
    "argmax alone": lambda rng: (real(rng, 4, 3, ARGMAX),),
    "argmax alone of integers": lambda rng: (whole(rng, 4, 3, ARGMAX),),
    "argmax": lambda rng: (real(rng, 6, 3), real(rng, 3, 6, ARGMAX)),
    "argmax of integers": lambda rng: (whole(rng, 6, 3), whole(rng, 3, 6, ARGMAX)),
    "argmax of wide spread": lambda rng: (whole(rng, 6, 3), wide_spread(rng, 3, 6, ARGMAX)),
    "argmax with fractions": lambda rng: (
        whole(rng, 6, 3),
        Layer(rng.integers(-1, 2, (4, 6)), rng.integers(-2, 2, 4) + rng.choice([0.1, 0.3, 1e-9], 4), ARGMAX),
    ),
    "few of many": lambda rng: (real(rng, 300, 3), few_of_many(rng, 40, 300), whole(rng, 1, 40)),
    "argmax of few of many": lambda rng: (whole(rng, 300, 3), few_of_many(rng, 5, 300, ARGMAX)),
    "ordinal": lambda rng: (real(rng, 5, 3), real(rng, 1, 5, THREE)),
    "ordinal alone": lambda rng: (real(rng, 1, 3, THREE),),
    "thresholds beyond": lambda rng: (real(rng, 4, 3), Layer(rng.integers(-1, 2, (1, 4)), [1e300])),
    "no weights": lambda rng: (Layer(np.zeros((3, 2)), [0.0, 1.0, -1.0]), Layer([[1.0, 1.0, 0.0]], [1.0])),
} | {
    f"{name} below {above.__name__}": lambda rng, a=activation, above=above: (
        real(rng, 4, 3, a),
        above(rng, 4, 4, a),
        above(rng, 1, 4),
    )
    for name, activation in ACTIVATIONS.items()
    for above in (real, whole)
}


def sources():
    """The C of every network, for all inputs that it has a file for."""
    rng = np.random.default_rng(0)
    numbers = (fitted(real(rng, 4, 3), real(rng, 2, 4, IDENTITY)),)
    for model in (*(fitted(*layers(rng)) for layers in NETWORKS.values()), *numbers):
        for inputs in ("floats", "integers", "bits"):
            with contextlib.suppress(InvalidInputError):
                yield to_c(model, inputs=inputs)


def test_templates_are_filled_in_and_none_is_left_unused():
    used = set()
    for source in sources():
        assert not set("@$") & set(source)
        used.update(source.splitlines())
    templates = [one for one in files("stepnet.export").joinpath("templates").iterdir() if one.name.endswith(".c")]
    assert len(templates) > 20
    for template in templates:
        lines = {line.replace("@", "model_") for line in template.read_text().splitlines() if "$" not in line}
        assert lines <= used, template.name


def test_neurons_that_read_few_of_many_signals_list_them():
    rng = np.random.default_rng(0)
    model = fitted(real(rng, 300, 3), few_of_many(rng, 40, 300), whole(rng, 1, 40))
    source = to_c(model)
    assert "uint16_t model_places2[]" in source
    assert "model_planes2" not in source
    first = fitted(real(rng, 300, 3), whole(rng, 40, 300), whole(rng, 1, 40))
    assert "model_planes2" in to_c(first)
    assert size_of(model).bytes < size_of(first).bytes


def test_a_small_network_is_a_table_of_bits_and_what_their_count_must_reach():
    model = fitted(Layer([[1.0, -1.0, 2.0]], [1.5]), classes=["no", "yes"])
    lines = to_c(model, inputs="bits", name="tiny").split("*/", 1)[1]
    # Bit planes: first of weights 1 and -1, then of 2; the sums are integers, so 1.5 is 2.
    assert "tiny_planes1[] = {\n    0x00000001, 0x00000002, 0x00000004, 0x00000000,\n};" in lines
    assert "tiny_spans1[] = {\n    {0, 1, 0},\n};" in lines
    assert "static const int8_t tiny_thresholds1[] = {\n    2,\n};" in lines
    assert 'tiny_classes[2] = {\n    "no",\n    "yes",\n};' in lines


@pytest.mark.parametrize("name", NETWORKS)
def test_answers_are_those_of_predict_on_hard_rows(name):
    rng = np.random.default_rng(len(name))
    model = fitted(*NETWORKS[name](rng))
    rows = hard_rows(rng, model.network_.layers[0])
    assert check_export(model, to_c(model), "c", rows) == 0


@pytest.mark.slow
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("width", [1, 3])
def test_numbers_are_those_of_predict_to_the_last_bit(activation, width):
    rng = np.random.default_rng(width)
    last = Layer(
        rng.normal(0, 1, (width, 9)) * 10.0 ** rng.integers(-9, 9, (width, 9)), rng.normal(0, 1, width), IDENTITY
    )
    model = fitted(real(rng, 9, 3, ACTIVATIONS[activation]), last)
    source, rows = to_c(model), rng.normal(0, 1, (300, 3))
    assert check_export(model, source, "c", rows) == 0
    assert run_c(source, rows).shape == (300, width)


def test_an_autoencoder_gives_its_reconstruction():
    rng = np.random.default_rng(0)
    model = autoencoder(real(rng, 4, 5), real(rng, 5, 4, IDENTITY))
    assert check_export(model, to_c(model), "c", rng.normal(0, 1, (100, 5))) == 0


@pytest.mark.parametrize(
    "name", ["ternary", "integers", "one neuron of integers", "argmax alone of integers", "argmax with fractions"]
)
def test_integer_files_answer_like_predict_and_have_no_floating_point(name):
    rng = np.random.default_rng(1)
    model = fitted(*NETWORKS[name](rng))
    n_features = model.network_.n_features
    source = to_c(model, inputs="integers")
    rows = np.vstack([
        rng.integers(-3, 4, (200, n_features)),
        rng.integers(-(2**31), 2**31, (200, n_features)),
        np.full((1, n_features), -(2**31)),
        np.full((1, n_features), 2**31 - 1),
    ])  # fmt: skip
    assert check_export(model, source, "c", rows) == 0
    assert not any(word in source.split("*/", 1)[1] for word in ("double", "float"))


@pytest.mark.parametrize(
    "name",
    [
        "real",
        "ternary",
        "wide spread",
        "argmax alone",
        "argmax of wide spread",
        "ordinal alone",
        "odd below real",
        "no weights",
    ],
)
def test_files_for_bits_answer_like_predict_and_have_no_floating_point(name):
    rng = np.random.default_rng(2)
    model = fitted(*NETWORKS[name](rng))
    source = to_c(model, inputs="bits")
    rows = np.array(np.meshgrid(*[[0, 1]] * model.network_.n_features)).reshape(model.network_.n_features, -1).T
    assert check_export(model, source, "c", rows) == 0
    assert not any(word in source.split("*/", 1)[1] for word in ("double", "float"))


def test_halves_are_integers_on_a_grid_of_their_own():
    model = fitted(Layer([[0.5, -1.5], [0.25, 0.0]], [0.3, 0.25]), Layer([[1.0, 1.0]], [2.0]))
    rows = np.random.default_rng(0).integers(-5, 6, (100, 2))
    assert check_export(model, to_c(model, inputs="integers"), "c", rows) == 0


def test_real_weights_are_refused_for_integers():
    model = fitted(*NETWORKS["real"](np.random.default_rng(0)))
    with pytest.raises(InvalidInputError, match="weights='ternary' or Integers"):
        to_c(model, inputs="integers")


def test_numbers_are_refused_for_integers_and_bits():
    rng = np.random.default_rng(0)
    model = fitted(whole(rng, 2, 2), real(rng, 1, 2, IDENTITY))
    for inputs in ("integers", "bits"):
        with pytest.raises(InvalidInputError, match="inputs='floats'"):
            to_c(model, inputs=inputs)


@pytest.mark.parametrize(("options", "match"), [({"inputs": "bytes"}, "choose one of"), ({"name": "1; x"}, "letters")])
def test_unknown_choices_are_named(options, match):
    with pytest.raises(InvalidInputError, match=match):
        to_c(fitted(*NETWORKS["one neuron"](np.random.default_rng(0))), **options)


def test_what_is_not_fitted_is_refused():
    from stepnet import StepClassifier

    with pytest.raises(InvalidInputError, match="Call fit first"):
        to_c(StepClassifier())


NASTY = [
    "*/ int x; /*",
    "??/",
    'a"b\\',
    "line\nbreak",
    "größe 🙂",
    "@predict {k}",
    "%s%n",
    "/*/",
    "\\",
    "???/",
    "tab\t\x07",
]


def test_names_of_all_kinds_are_harmless():
    rng = np.random.default_rng(0)
    n = len(NASTY)
    model = fitted(real(rng, 6, n), real(rng, n, 6, ARGMAX), classes=NASTY, names=NASTY)
    source = to_c(model)
    assert source.isascii()
    assert check_export(model, source, "c", rng.normal(0, 3, (200, n))) == 0


@pytest.mark.parametrize("last", [STEP, IDENTITY])
def test_a_check_without_rows_finds_no_difference(last):
    rng = np.random.default_rng(0)
    model = fitted(real(rng, 3, 2), real(rng, 1, 3, last))
    assert check_export(model, to_c(model), "c", np.zeros((0, 2))) == 0


def test_a_check_on_rows_that_are_not_numbers_is_refused():
    model = fitted(Layer([[1.0]], [0.0]))
    with pytest.raises(InvalidInputError, match="must be rows of numbers"):
        check_export(model, to_c(model), "c", [["a"]])


def test_a_class_with_a_zero_character_is_refused():
    model = fitted(Layer([[1.0]], [0.0]), classes=np.array(["a\0b", "c"], dtype=object))
    with pytest.raises(InvalidInputError, match="null character"):
        to_c(model)


def test_the_comment_says_what_the_model_is():
    model = fitted(Layer([[1.0, 0.5]], [0.25]), classes=["no", "yes"], names=["red", "age"])
    model.columns_ = Columns((Column("color", "one_hot", ("red",)), Column("age", fill=41.5)))
    comment = to_c(model).split("*/")[0]
    for text in (
        "1 where color is 'red', else 0",
        "age; where age is missing, 41.5",
        "loss 3 of 20",
        "cc -std=c99",
        "bytes in total",
        "margin 0.25",
        CERTIFICATE.fingerprint,
    ):
        assert text in comment


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    model = fitted(Layer([[1.0, -1.0]], [0.5]), classes=["low", "high"], names=["a", "b, c"])
    return compile_c(to_c(model), tmp_path_factory.mktemp("program"))


def run(program, text):
    done = subprocess.run([program], input=text, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "text",
    [
        "1,0\n0,1\n", 'a,"b, c"\n1,0\n0,1\n', "\ufeffa,\"b, c\"\r\n 1 ,0\r\n\r\n0,1", '"1",0\n0x0,1e0\n',
        'id,"b, c",a,note\n7,0,1,"x, y"\n8,1,0,\n',
    ],
)  # fmt: skip
def test_the_program_reads_csv_with_and_without_a_header(program, text):
    assert run(program, text) == (0, "prediction\nhigh\nlow\n", "")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a,b\n1,0\n", "line 1: there is no column 'b, c'"),
        ("a,b,c\n", "line 1: there is no column 'b, c'"),
        ('a,"b, c"\n1\n', "line 2: 1 cells, expected 2"),
        ("1,0\n1\n", "line 2: 1 cells"),
        ("1,0\n1,zwei\n", "line 2, column 2: 'zwei' is not a finite number"),
        ("1,0\n1,inf\n", "'inf' is not a finite number"),
        ("1,0\n1,\n", "'' is not a finite number"),
        ("1,x\n", "line 1, column 2: 'x'"),
    ],
)
def test_the_program_complains_with_the_line(program, text, complaint):
    code, _, errors = run(program, text)
    assert code == 2
    assert complaint in errors


@pytest.mark.parametrize(
    ("inputs", "cell"), [("integers", "2147483648"), ("integers", "1.5"), ("bits", "2"), ("bits", "-1")]
)
def test_integer_programs_refuse_cells_beyond_their_range(inputs, cell, tmp_path):
    program = compile_c(to_c(fitted(Layer([[1.0]], [0.5])), inputs=inputs), tmp_path)
    assert run(program, "1.0\n0\n") == (0, "prediction\n1\n0\n", "")
    assert "line 2" in run(program, f"1\n{cell}\n")[2]


def test_wrong_weights_are_noticed():
    rng = np.random.default_rng(3)
    model = fitted(*NETWORKS["real"](rng))
    other = fitted(*NETWORKS["real"](rng))
    assert check_export(model, to_c(other), "c", rng.normal(0, 1, (200, 4))) > 0


def test_a_file_that_does_not_compile_is_an_error():
    model = fitted(Layer([[1.0]], [0.5]))
    with pytest.raises(ExportError, match="does not run"):
        check_export(model, to_c(model).replace("return", "retrun"), "c", [[1.0]])


def test_fast_math_is_refused(tmp_path):
    (tmp_path / "model.c").write_text(to_c(fitted(Layer([[1.0]], [0.5]))))
    done = subprocess.run(
        ["cc", "-std=c99", "-ffast-math", "-c", "-o", tmp_path / "model.o", tmp_path / "model.c"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert "-ffast-math" in done.stderr


def test_the_size_counts_what_the_tables_hold():
    rng = np.random.default_rng(0)
    size = size_of(fitted(real(rng, 5, 4), Layer(np.ones((1, 5)), [2.5])))
    assert (size.weights, size.thresholds, size.bits) == (5 * 4 * 8 + 5 * 8, 5 * 8 + 1, 4 + 12)
    assert (size.multiplications, size.popcounts) == (30, 1)
    assert size.bytes == 200 + 41 + 16
    assert "bytes in total" in str(size)
