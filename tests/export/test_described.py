"""Exports accept the outputs that they can express, and refuse others with the accepted ones named."""

import numpy as np
import pytest

from exported import fitted, real
from stepnet.errors import InvalidInputError
from stepnet.export import check_export, doubt, size_of, to_c, to_json, to_onnx, to_rules
from stepnet.model.activations.argmax import Argmax

EXPORTS = {
    "c": to_c,
    "onnx": to_onnx,
    "json": to_json,
    "rules": to_rules,
    "size": size_of,
    "doubt": doubt,
    "check": lambda model: check_export(model, "", "c", np.zeros((1, 3))),
}


class Shares(Argmax):
    """Read like an argmax, but no export knows it."""

    name = "shares"
    is_compared = False


@pytest.mark.parametrize("export", EXPORTS)
@pytest.mark.parametrize("n_hidden", [0, 4])
def test_an_output_that_no_file_has_words_for_is_refused(export, n_hidden):
    rng = np.random.default_rng(0)
    hidden = [real(rng, n_hidden, 3)] if n_hidden else []
    model = fitted(*hidden, real(rng, 2, n_hidden or 3, Shares()), classes=["no", "yes"])
    with pytest.raises(InvalidInputError, match=r"'shares' cannot be exported.*argmax.*identity"):
        EXPORTS[export](model)
