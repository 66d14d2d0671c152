"""A random sample of rows that lie in chunks, and what its rows stand for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.distributed.chunked_partition import shares
from dpmlite.distributed.proposals import GATHERED_ROWS
from dpmlite.estimators.default_model.model import certain_power_of, power_of
from dpmlite.estimators.inputs.data import HEAVIEST, NEGLIGIBLE
from dpmlite.estimators.inputs.sample_weights import check_weight_ratio
from dpmlite.estimators.map_dpm.chunk_tables import Size, WeightedChunk, joined_rows, rows_of

if TYPE_CHECKING:
    from dpmlite.distributed.engine import Engine
    from dpmlite.estimators.inputs.data import Indices


@dataclass(frozen=True, eq=False, repr=False)
class FirstSample:
    """A random sample of the rows of all chunks.

    Attributes
    ----------
    chunk : array-like or WeightedChunk
        Its rows as they were given.
    n_rows : int
        Rows in it.
    lengths : ndarray of int, shape (P,)
        Rows of each chunk.
    weight, least_weight, most_weight : float
        The sum of the weights of all rows, the least and the greatest.
    """

    chunk: Any
    n_rows: int
    lengths: Indices
    weight: float
    least_weight: float
    most_weight: float

    @classmethod
    def draw(cls, engine: Engine, rng: np.random.Generator) -> FirstSample:
        """A sample of the rows of an engine's chunks, in their order."""
        sizes = engine.ask(Size.of, engine.numbers)
        lengths = np.array([size.n_rows for size in sizes])
        least = min(size.least_weight for size in sizes)
        most = max(size.most_weight for size in sizes)
        check_weight_ratio(least, most)
        n_rows = min(GATHERED_ROWS, int(lengths.sum()))
        drawn = [
            np.sort(rng.choice(length, n, replace=False, shuffle=False))
            for length, n in zip(lengths, shares(lengths, n_rows), strict=True)
        ]
        weight = sum(size.weight for size in sizes)
        return cls(joined_rows(engine.ask(rows_of, drawn)), n_rows, lengths, weight, least, most)

    @property
    def factor(self) -> float:
        """Number of all rows in units of those of the sample."""
        return float(self.lengths.sum() / self.n_rows)

    @property
    def raw(self) -> Any:
        """Its rows without weights."""
        return self.chunk.rows if isinstance(self.chunk, WeightedChunk) else self.chunk

    def power_of_sample(self, saturation: float | None, effect: float, weight: float) -> float:
        """The power with which the sample, of this weight, has the evidence of all rows.

        `effect` is the design effect of all rows.
        """
        return self._certain_power(saturation, effect) * self.weight / weight

    def power_of_rows(self, saturation: float | None, effect: float, certain: bool) -> float:
        """The power of all rows, as that of a table in memory.

        `certain` says that weights tell how sure rows are: see `weights_as_certainty`.
        """
        if not certain:
            return min(1.0, power_of(self.weight, saturation, effect))
        power = self._certain_power(saturation, effect)
        return self.least_weight * min(1.0 / self.most_weight, power)

    def _certain_power(self, saturation: float | None, effect: float) -> float:
        return certain_power_of(self.weight, int(self.lengths.sum()), saturation, effect)

    def check_weights_alike(self) -> None:
        """Raise ValueError for weights that `fit` bounds or leaves out under the default model."""
        mean = float(self.weight / self.lengths.sum())
        if not NEGLIGIBLE * mean <= self.least_weight <= self.most_weight <= HEAVIEST * mean:
            raise ValueError(
                f"sample_weight must be {NEGLIGIBLE:g} to {HEAVIEST:g} times its mean for rows in "
                f"chunks with prior='auto', got {self.least_weight / mean:g} to "
                f"{self.most_weight / mean:g}"
            )
