"""GivenModel: a network from a file without its training, where commands and exports expect a model."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stepnet.errors import InvalidInputError, ModelFileError
from stepnet.model.activations.argmax import ARGMAX
from stepnet.model.activations.identity import IDENTITY
from stepnet.model.activations.staircase import STEP, Staircase
from stepnet.model.foreign.onnx_file import read_onnx
from stepnet.model.network import Layer, Network, matrix_of

FORMAT = "stepnet network"


class GivenModel:
    """A network with the names of its answers; it predicts, and can be attacked and exported."""

    def __init__(
        self,
        network: Network,
        classes: Any = None,
        names: list[str] | None = None,
        notes: tuple[str, ...] = (),
        dtype: str = "float64",
    ) -> None:
        self.network_, self.notes, self.dtype = network, notes, dtype
        if classes is not None:
            self.classes_ = np.asarray(classes)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)

    @property
    def n_features_in_(self) -> int:
        return self.network_.n_features

    @property
    def used_features(self) -> tuple[int, ...]:
        return self.network_.used_features

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        codes = self.network_.predict(X)
        return np.asarray(self.classes_[codes]) if hasattr(self, "classes_") else codes

    def as_classifier(self) -> GivenModel:
        """With the place of the largest number as answer, where several numbers are the answer."""
        *below, last = self.network_.layers
        if not last.activation.gives_numbers or last.width == 1:
            return self
        network = Network((*below, Layer(last.matrix, last.thresholds, ARGMAX)))
        names = [str(one) for one in self.feature_names_in_] if hasattr(self, "feature_names_in_") else None
        return GivenModel(network, np.arange(last.width), names, self.notes)


def given_model(path: str | os.PathLike[str]) -> GivenModel | None:
    """The network of an ONNX file, or of a JSON file that export wrote; None if the file is neither."""
    if Path(path).suffix.lower() == ".onnx":
        found = read_onnx(path)
        return GivenModel(found.network, found.classes, None, found.notes, found.dtype)
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None  # which the reader of model files explains
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        return None
    try:
        return _from_json(content)
    except (KeyError, TypeError, ValueError, IndexError, InvalidInputError) as error:
        raise ModelFileError(f"the network in {str(path)!r} is damaged ({error}); export it again.") from error


def _from_json(content: dict[str, Any]) -> GivenModel:
    if any(feature.get("arithmetic") for feature in content["features"]):
        raise ModelFileError("its features are scaled before the first layer; give the model file that fit wrote")
    layers = []
    for one in content["layers"]:
        kinds = {"argmax": ARGMAX, "identity": IDENTITY}
        kind = kinds.get(one["activation"]) or Staircase(tuple(one["values"]))
        kind = STEP if kind == STEP else kind
        ends = np.array(one["thresholds"], dtype=np.float64)
        layers.append(Layer(matrix_of(one["weights"]), ends[:, 0] if kind.n_thresholds == 1 else ends, kind))
    names = [str(feature["name"]) for feature in content["features"]]
    return GivenModel(Network(tuple(layers)), content["classes"], names)
