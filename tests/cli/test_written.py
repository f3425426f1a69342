"""Options written as in Python are read without running anything."""

import pytest

from stepnet import Ball, Hinge, Integers, Learn, Staircase
from stepnet.cli.inputs import ball_of, method_of, sparsity_of, weights_of, widths_of
from stepnet.cli.written import written
from stepnet.errors import InvalidInputError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("real", "real"),
        ("'real'", "real"),
        ("5", 5),
        ("-0.5", -0.5),
        ("(5,)", (5,)),
        ("[15, None]", (15, None)),
        ("Integers(5)", Integers(5)),
        ("('real', Integers(largest=3))", ("real", Integers(3))),
        ("Staircase((0, 1, 2))", Staircase((0, 1, 2))),
        ("Hinge(bound=5)", Hinge(bound=5)),
        ("Ball('linf', 0.1)", Ball("linf", 0.1)),
        ("5 5", "5 5"),
        ("", ""),
        ("__import__('os').getcwd()", "__import__('os').getcwd()"),
        ("2**9", "2**9"),
        ("(" * 5000, "(" * 5000),
    ],
)
def test_what_is_written_is_what_is_meant(text, value):
    assert written(text) == value
    assert type(written(text)) is type(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Integer(5)", "Integer is not known; choose one of Absolute"),
        ("Integers()", "Write it as in Python"),
        ("Integers(-1)", "Integers"),
    ],
)
def test_what_cannot_be_meant_is_named(text, message):
    with pytest.raises(InvalidInputError, match=message):
        written(text)


def test_options_take_what_is_pasted_from_python():
    assert widths_of("(5,)") == widths_of("[5]") == widths_of("5") == (5,)
    assert widths_of("(5, 4)") == widths_of("5,4") == (5, 4)
    assert widths_of("()") == widths_of("0") == ()
    assert weights_of("Integers(5)") == weights_of("5") == Integers(5)
    assert sparsity_of("(15, None)") == (15, None)
    assert ball_of("Ball('l2', 0.1)", 0.0) == Ball("l2", 0.1)
    assert method_of("Learn(epochs=7)", "auto", "auto") == Learn(epochs=7)
    for bad in ("(5, 0)", "(5, 'a')", "Integers(5)"):
        with pytest.raises(InvalidInputError, match="--hidden"):
            widths_of(bad)
