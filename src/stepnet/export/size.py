"""CodeSize: the cost of a model on a device."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class CodeSize:
    """Bytes of the tables in a C file, and operations of a prediction in which no sum is in doubt."""

    weights: int = 0  # bytes
    thresholds: int = 0
    bits: int = 0  # weights packed as bits
    multiplications: int = 0
    additions: int = 0
    comparisons: int = 0
    popcounts: int = 0

    def __add__(self, other: CodeSize) -> CodeSize:
        return CodeSize(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))

    @property
    def bytes(self) -> int:
        return self.weights + self.thresholds + self.bits

    def __str__(self) -> str:
        """A plain table."""
        rows = [
            ("bytes of weights", self.weights),
            ("bytes of thresholds", self.thresholds),
            ("bytes of packed bits", self.bits),
            ("bytes in total", self.bytes),
            ("multiplications per prediction", self.multiplications),
            ("additions", self.additions),
            ("comparisons", self.comparisons),
            ("popcounts of 32-bit words", self.popcounts),
        ]
        return "\n".join(f"{name:30}{number:12,}" for name, number in rows)
