"""A fitted estimator as plain, self-describing JSON, whose schema is ``network.schema.json``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from stepnet.errors import InvalidInputError
from stepnet.export.described import describe, kind_of
from stepnet.model.foreign.given import FORMAT
from stepnet.model.network import plain_weights

VERSION = 3
SCHEMA = Path(__file__).with_name("network.schema.json")

_MEANING = (
    "The h of the first layer are the features. Neuron j of a layer has the sum s of weights[j][i] * h[i] over i, "
    "computed exactly; where few weights are not zero, a row has the places i of these, and the weights. Activation "
    "'levels': it outputs values[l], l the number of thresholds[j] that are <= s; a last layer of levels answers "
    "with class l of its first neuron. Activation 'argmax': the answer is the class of the largest "
    "s - thresholds[j][0], the first of equal ones. Activation 'identity': all s - thresholds[j][0] are the answer."
)


_ARITHMETIC = (
    "First, each feature goes through the operations of its 'arithmetic', one after the other, each rounded to a "
    "double: ['subtract', 3] makes x - 3 of x. 'round' gives the nearest whole number, of two the even one; 'at_least' "
    "and 'at_most' give the larger and the smaller one of x and the number. "
)


def to_json(estimator: Any, *, columns: str = "used") -> str:
    """The network, its features, classes and certificate as JSON that can be read without stepnet.

    With ``columns="all"`` it has the features that no answer depends on, too.
    """
    described = describe(estimator, columns)
    features: list[dict[str, Any]] = [
        {"name": name, "description": sentence}
        for name, sentence in zip(described.names, described.sentences, strict=True)
    ]
    has_arithmetic = any(described.arithmetic)
    if has_arithmetic:
        for feature, operations in zip(features, described.arithmetic, strict=True):
            feature["arithmetic"] = [list(operation) for operation in operations]
    content = {
        "format": FORMAT,
        "version": VERSION,
        "model": described.kind,
        "meaning": f"{_ARITHMETIC if has_arithmetic else ''}{_MEANING}",
        "features": features,
        "classes": None if described.classes is None else described.classes.tolist(),
        "layers": [
            {
                "activation": kind_of(layer.activation),
                "values": list(layer.activation.values) or None,
                "weights": plain_weights(layer.matrix),
                "thresholds": layer.thresholds.reshape(layer.width, -1).tolist(),
            }
            for layer in described.network.layers
        ],
        "certificate": described.certificate and described.certificate.in_words(),
    }
    try:
        return json.dumps(content, indent=1, allow_nan=False) + "\n"
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"this model cannot be written as JSON ({error}); classes must be numbers, text or booleans."
        ) from error
