"""RowPrints: which rows a model was trained on, without the rows.

A row is hashed to 32 bits. Of many rows the smallest hashes are kept, and a new row is looked up only if its hash is as
small: so a part of the rows is compared, and none is called known that is not, but for one in a hundred thousand.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stepnet.errors import ModelFileError
from stepnet.model.arithmetic import Bools, Floats
from stepnet.problem.row_hashes import row_hashes, with_targets

_MOST, _MOST_OF_A_STREAM = 20_000, 400
_ALL = 2**32


@dataclass(frozen=True, eq=False)
class RowPrints:
    """Hashes in rising order, all of those below ``end``."""

    hashes: NDArray[np.uint32]
    end: int = _ALL

    @classmethod
    def of(cls, X: Floats) -> RowPrints:
        hashes = np.unique(_hashes(X))
        if len(hashes) <= _MOST:
            return cls(hashes)
        return cls(hashes[:_MOST], int(hashes[_MOST]))

    def with_(self, other: RowPrints) -> RowPrints:
        """Of the rows of both; few of them, since a stream should not grow with its rows."""
        end = min(self.end, other.end)
        hashes = np.union1d(self.hashes, other.hashes)
        hashes = hashes[hashes < end]
        if len(hashes) > _MOST_OF_A_STREAM:
            hashes, end = hashes[:_MOST_OF_A_STREAM], int(hashes[_MOST_OF_A_STREAM])
        return RowPrints(hashes, end)

    def know(self, X: Floats) -> Bools:
        """For each row, whether a training row equals it, as far as that is known."""
        hashes = _hashes(X)
        return np.isin(hashes, self.hashes) & (hashes < self.end)

    def to_dict(self) -> dict[str, object]:
        data = self.hashes.astype("<u4").tobytes()
        return {"end": self.end, "hashes": base64.b64encode(data).decode("ascii")}

    @classmethod
    def from_dict(cls, data: object) -> RowPrints:
        try:
            hashes = np.frombuffer(base64.b64decode(data["hashes"], validate=True), dtype="<u4")  # type: ignore[index]
            return cls(hashes.astype(np.uint32), int(data["end"]))  # type: ignore[index]
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFileError(f"the prints of the training rows in the file are damaged ({error})") from error


def _hashes(X: Floats) -> NDArray[np.uint32]:
    return (with_targets(row_hashes(np.asarray(X)), ()) >> np.uint64(32)).astype(np.uint32)
