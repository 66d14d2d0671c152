"""Tables whose columns have different families: a product of blocks of columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite import families
from dpmlite.estimators.inputs.columns import CATEGORICAL, COUNTS, FULL
from dpmlite.estimators.inputs.data import Data
from dpmlite.estimators.inputs.reading import read_columns
from dpmlite.estimators.priors.base import Family
from dpmlite.estimators.priors.categorical import CategoricalFamily
from dpmlite.estimators.priors.exposed_poisson_gamma import ExposedPoissonGammaFamily

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import numpy.typing as npt

    from dpmlite.estimators.inputs.choices import Prior
    from dpmlite.estimators.inputs.columns import Columns
    from dpmlite.estimators.inputs.data import Floats, Indices
    from dpmlite.estimators.priors.base import Parameters, Rng, Totals
    from dpmlite.estimators.priors.moments import Moments


@dataclass(frozen=True, eq=False, repr=False)
class Block:
    """Columns of one family, side by side in the coded table.

    Attributes
    ----------
    name : str
        Key of the block in the prior.
    family : Family
    columns : slice
        Its columns in the coded table.
    """

    name: str
    family: Family
    columns: slice


class MixedFamily(Family):
    """Columns of different families, independent in a cluster but for blocks of full covariance.

    The prior has the prior of each block under the name of its family. Tables are coded
    (`Columns`); means and variances are those of the table's columns, in its order.

    Parameters
    ----------
    columns : Columns
    separate : dict
        The families of blocks, by name.
    """

    name = "mixed"
    scales = ()
    width = ()
    takes_missing = True

    def __init__(self, columns: Columns, separate: Mapping[str, Family]) -> None:
        self.columns = columns
        self._separate = separate

    @cached_property
    def blocks(self) -> list[Block]:
        """The blocks in the order of the coded table."""
        found, start = [], 0
        n_full = sum(name == FULL for name, _ in self.columns.blocks)
        for name, columns in self.columns.blocks:
            if name == CATEGORICAL:
                family: Family = CategoricalFamily(
                    [len(self.columns.levels_of(each)) for each in columns]
                )
            elif name == COUNTS and self.columns.exposure is not None:
                family = ExposedPoissonGammaFamily()
            else:
                family = self._separate[name]
            if name == FULL and n_full > 1:
                name = f"{name} of {', '.join(map(str, columns))}"
            found.append(Block(name, family, slice(start, start + len(columns))))
            start += len(columns)
        return found

    @property
    def prior_keys(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(block.name for block in self.blocks)

    @property
    def can_fit_prior(self) -> bool:  # type: ignore[override]
        return all(block.family.can_fit_prior for block in self.blocks)

    @property
    def knows_power(self) -> bool:  # type: ignore[override]
        return all(block.family.knows_power for block in self.blocks)

    @property
    def has_covariance(self) -> bool:  # type: ignore[override]
        return len(self.blocks) == 1 and self.blocks[0].family.has_covariance

    @property
    def is_full(self) -> bool:  # type: ignore[override]
        return any(block.family.is_full for block in self.blocks)

    @property
    def column_keys(self) -> list[Any]:  # type: ignore[override]
        return self.columns.coded

    def attributes(self) -> dict[str, Any]:
        columns = self.columns
        return {
            "component_": columns.component,
            "levels_": columns.levels,
            "log_columns_": columns.logs,
        }

    def read_table(self, X: Any, allow_missing: bool) -> Data:
        cells = {name: found.cells for name, found in read_columns(X).items()}
        if len(cells) != len(self.columns.levels):
            n_columns = len(self.columns.levels)
            raise ValueError(f"X has {len(cells)} features, but {n_columns} features are expected")
        return coded_table(self.columns, cells, allow_missing)

    def default(self, key: str, moments: Moments, prior: Prior) -> Any:
        block = next(block for block in self.blocks if block.name == key)
        return block.family.prior_of_moments(None, moments.part(block.columns))

    def prior_of_moments(self, given: Mapping[str, Any] | None, moments: Moments) -> Prior:
        values = self._known(given)
        return {
            block.name: block.family.prior_of_moments(
                values.get(block.name), moments.part(block.columns)
            )
            for block in self.blocks
        }

    def check_prior(self, prior: Prior, n_columns: int) -> Prior:
        return {
            block.name: block.family.full_prior(prior[block.name], _width(block))
            for block in self.blocks
        }

    def check_reach(self, data: Data, prior: Prior, moments: Moments) -> None:
        for block in self.blocks:
            part = data.part(block.columns)
            block.family.check_reach(part, prior[block.name], moments.part(block.columns))

    def convert_statistics(self, statistics: Floats, old: Prior, new: Prior) -> Floats:
        parts = self._of_blocks(statistics, old)
        converted = [
            block.family.convert_statistics(part, old[block.name], new[block.name])
            for block, part in zip(self.blocks, parts, strict=True)
        ]
        return self._of_product(converted)

    def scale_statistics(self, statistics: Floats, prior: Prior, parts: Floats) -> Floats:
        scaled = [
            block.family.scale_statistics(part, prior[block.name], parts)
            for block, part in zip(self.blocks, self._of_blocks(statistics, prior), strict=True)
        ]
        return self._of_product(scaled)

    def _of_blocks(self, statistics: Floats, prior: Prior) -> list[Floats]:
        """Statistics of each block; a product of several has the weights before them."""
        if len(self.blocks) == 1:
            return [statistics]
        sizes = self._n_statistics(prior, statistics.shape[1])
        return np.split(statistics[:, 1:], np.cumsum(sizes[:-1]), axis=1)

    def _of_product(self, parts: list[Floats]) -> Floats:
        """Statistics of the product of blocks, all of which have the weights as first column."""
        return parts[0] if len(parts) == 1 else np.hstack([parts[0][:, :1], *parts])

    def takes_cells(self, cells: Floats) -> npt.NDArray[np.bool_]:
        parts = [block.family.takes_cells(cells[:, block.columns]) for block in self.blocks]
        return np.hstack(parts)

    def check_statistics(self, statistics: Floats, prior: Prior, allow_missing: bool) -> None:
        if len(self.blocks) == 1:
            block = self.blocks[0]
            block.family.check_statistics(statistics, prior[block.name], allow_missing)
            return
        sizes = self._n_statistics(prior, statistics.shape[1])
        n, *parts = np.split(statistics, np.cumsum([1, *sizes[:-1]]), axis=1)
        for block, part in zip(self.blocks, parts, strict=True):
            if not np.array_equal(part[:, :1], n):
                raise ValueError("statistics_ must have all of a cluster's rows in every block")
            block.family.check_statistics(part, prior[block.name], allow_missing)

    def prepared(self, table: Data) -> Data:
        assert table.values is not None
        values = table.values
        for block, part in self._parts(table):
            prepared = block.family.prepared(part).values
            if prepared is not part.values:
                values = values.copy() if values is table.values else values
                values[:, block.columns] = prepared
        return table.with_values(values)

    def column_scales(self, sample: Data, table: Data) -> dict[str, Any]:
        return {
            block.name: block.family.column_scales(part, whole)
            for (block, part), (_, whole) in zip(
                self._parts(sample), self._parts(table), strict=True
            )
        }

    def first_prior(self, scales: dict[str, Any], weight: float, width: float) -> Prior:
        return {
            block.name: block.family.first_prior(scales[block.name], weight, width)
            for block in self.blocks
        }

    def sums(self, table: Data, labels: Indices, power: float) -> dict[str, Any]:
        return {
            block.name: block.family.sums(part, labels, power) for block, part in self._parts(table)
        }

    def fit_prior(
        self, sums: dict[str, Any], scales: dict[str, Any], start: Prior | None
    ) -> tuple[Prior, float]:
        prior, penalty = {}, 0.0
        for block in self.blocks:
            name = block.name
            begin = None if start is None else start[name]
            prior[name], own = block.family.fit_prior(sums[name], scales[name], begin)
            penalty += own
        return prior, penalty

    def component(
        self, prior: Prior, allow_missing: bool, power: float = 1.0
    ) -> families.Component:
        parts = [
            block.family.component(prior[block.name], allow_missing, power) for block in self.blocks
        ]
        return parts[0] if len(parts) == 1 else families.Product(parts)

    def as_prior(self, posterior: Mapping[str, Any], prior: Prior) -> Prior:
        return {
            block.name: block.family.as_prior(part, prior[block.name])
            for block, part in zip(self.blocks, self._posteriors(posterior), strict=True)
        }

    def covariance(self, posterior: Mapping[str, Any]) -> Floats:
        return self.blocks[0].family.covariance(posterior)

    @property
    def full_columns(self) -> list[slice]:
        return [block.columns for block in self.blocks if block.family.is_full]

    def full_covariances(self, posterior: Mapping[str, Any]) -> list[tuple[slice, Floats]]:
        return [
            (block.columns, block.family.covariance(part))
            for block, part in zip(self.blocks, self._posteriors(posterior), strict=True)
            if block.family.is_full
        ]

    def means(self, prior: Prior) -> Floats:
        """Means of the columns; medians, exp of the mean of logarithms, of log-normal ones."""
        return self._of_table(self.coded_means(prior), self.level_probabilities(prior))

    def coded_means(self, prior: Prior) -> Floats:
        return self._of_columns(lambda family, part: family.means(part), prior)

    def variances(self, prior: Prior) -> Floats:
        """Variances of the columns; of the logarithms, of log-normal ones."""
        coded = self._of_columns(lambda family, part: family.variances(part), prior)
        levels = self.level_probabilities(prior)
        return self.columns.in_table_order(coded, {key: p * (1.0 - p) for key, p in levels.items()})

    def _of_table(self, coded: Floats, of_levels: Mapping[Any, Floats]) -> Floats:
        """Means of the table's columns from those of coded columns."""
        values = coded.copy()
        values[self.columns.is_log] = np.exp(coded[self.columns.is_log])
        return self.columns.in_table_order(values, of_levels)

    def on_scale(self, means: Floats) -> Floats:
        is_log = self.columns.is_log[self.columns.places]
        return np.where(is_log, np.log(np.where(is_log, means, 1.0)), means)

    def typical_total(self, statistics: Floats, prior: Prior) -> float | None:
        parts = self._of_blocks(statistics, prior)
        for block, part in zip(self.blocks, parts, strict=True):
            if isinstance(block.family, ExposedPoissonGammaFamily):
                return block.family.mean_exposure(part)
        return None

    def exposures(self, coded: Floats) -> Floats | None:
        """The exposures of coded rows, 1 where none is known; None if counts have none."""
        exposed = self.columns.exposed
        return None if exposed is None else np.nan_to_num(coded[:, exposed.stop - 1], nan=1.0)

    def at_exposures(self, expected: Floats, exposures: Floats | None) -> Floats:
        """Coded rows that are expected at exposures, if there are any, from those of exposure 1."""
        found, exposed = expected.copy(), self.columns.exposed
        if exposed is not None and exposures is not None:
            found[:, exposed] *= exposures[:, None]
            found[:, exposed.stop - 1] = exposures
        return found

    def level_probabilities(self, prior: Prior) -> dict[Any, Floats]:
        for block in self.blocks:
            if isinstance(block.family, CategoricalFamily):
                names = self.columns.coded[block.columns]
                return dict(zip(names, block.family.probabilities(prior[block.name]), strict=True))
        return {}

    def draw_parameters(self, prior: Prior, size: int, rng: Rng) -> Parameters:
        return {
            f"{i} {key}": drawn
            for i, block in enumerate(self.blocks)
            for key, drawn in block.family.draw_parameters(prior[block.name], size, rng).items()
        }

    def draw_rows(self, theta: Parameters, labels: Indices, totals: Totals, rng: Rng) -> Floats:
        drawn = [
            block.family.draw_rows(own, labels, totals, rng)
            for block, own in self._parameters(theta)
        ]
        X = np.hstack(drawn)
        for number, zero in self.columns.zeros.items():
            X[X[:, zero] == 1.0, number] = np.nan
        return X

    def expected_rows(self, X: Floats, prior: Prior) -> Floats:
        parts = [
            block.family.expected_rows(X[:, block.columns], prior[block.name])
            for block in self.blocks
        ]
        return np.hstack(parts)

    def draw_missing(self, X: Floats, prior: Prior, rng: Rng) -> tuple[Floats, Floats]:
        parts = [
            block.family.draw_missing(X[:, block.columns], prior[block.name], rng)
            for block in self.blocks
        ]
        rows, log_densities = zip(*parts, strict=True)
        return np.hstack(rows), np.sum(log_densities, axis=0)

    def expected_parameters(self, priors: list[Prior]) -> Parameters:
        return {
            f"{i} {key}": value
            for i, block in enumerate(self.blocks)
            for key, value in block.family.expected_parameters(
                [prior[block.name] for prior in priors]
            ).items()
        }

    def row_means(self, posterior: Mapping[str, Any], prior: Prior) -> Floats:
        """Means of the rows' cells; exp of those of logarithms; NaN for levels."""
        parts = list(zip(self.blocks, self._posteriors(posterior), strict=True))
        coded = [block.family.row_means(part, prior[block.name]) for block, part in parts]
        shares = {}
        for block, part in parts:
            if isinstance(block.family, CategoricalFamily):
                found = block.family.level_shares(part, prior[block.name])
                shares = dict(zip(self.columns.coded[block.columns], found, strict=True))
        return self._of_table(np.concatenate(coded), shares)

    def column_log_density(self, X: Floats, theta: Parameters) -> Floats:
        """Log densities of each coded column."""
        terms = [
            block.family.column_log_density(X[:, block.columns], own)
            for block, own in self._parameters(theta)
        ]
        return np.concatenate(terms, axis=2)

    def mixture_column_log_density(self, X: Floats, theta: Parameters, weights: Floats) -> Floats:
        terms = [
            block.family.mixture_column_log_density(X[:, block.columns], own, weights)
            for block, own in self._parameters(theta)
        ]
        return np.hstack(terms)

    def information_of_columns(self, coded: Floats) -> Floats:
        """What the columns of the table tell, shape (K, D), from what coded columns tell."""
        found = coded.copy()
        for number, zero in self.columns.zeros.items():
            found[:, number] += coded[:, zero]
        return found[:, self.columns.places]

    def n_coded(self, n_columns: int) -> int:
        return len(self.columns.coded)

    def decoded(self, X: Floats) -> npt.NDArray[Any]:
        cells = list(self.columns.decode(X).values())
        if all(column.dtype.kind == "f" for column in cells):
            return np.stack(cells, axis=1)
        return np.stack([column.astype(object) for column in cells], axis=1)

    def log_density(self, X: Floats, theta: Parameters) -> Floats:
        terms = (
            block.family.log_density(X[:, block.columns], own)
            for block, own in self._parameters(theta)
        )
        return np.asarray(sum(terms))

    def _posteriors(self, posterior: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """The posterior of each block."""
        return [posterior] if len(self.blocks) == 1 else posterior["parts"]

    def _parts(self, table: Data) -> Iterator[tuple[Block, Data]]:
        return ((block, table.part(block.columns)) for block in self.blocks)

    def _parameters(self, theta: Parameters) -> Iterator[tuple[Block, Parameters]]:
        """Each block with its own parameters of those that `draw_parameters` returned."""
        for i, block in enumerate(self.blocks):
            start = f"{i} "
            own = {key.removeprefix(start): v for key, v in theta.items() if key.startswith(start)}
            yield block, own

    def _of_columns(self, what: Callable[[Family, Prior], Floats], prior: Prior) -> Floats:
        """Numbers of the coded columns, shape (D,)."""
        return np.concatenate([what(block.family, prior[block.name]) for block in self.blocks])

    def _n_statistics(self, prior: Prior, n_values: int) -> list[int]:
        """How many of a cluster's `n_values` statistics are of each block."""
        for allow_missing in (False, True):
            sizes = []
            for block in self.blocks:
                component = block.family.component(prior[block.name], allow_missing)
                component.resize(1)
                sizes.append(len(component.statistics(0)))
            if 1 + sum(sizes) == n_values:
                break
        return sizes


def coded_table(columns: Columns, cells: Mapping[Any, Any], allow_missing: bool) -> Data:
    """The coded table of the cells of each column.

    Raises
    ------
    ValueError
        If a column of the fit is not there, a cell is missing and `allow_missing` is False, or a
        value breaks the rule of its column's family.
    """
    for name in columns.levels:
        if name not in cells:
            raise ValueError(f"X must have the column {name!r} of the fit")
    values = columns.encode(cells, allow_missing)
    return Data((values.shape[0], values.shape[1]), values=values, columns=columns)


def _width(block: Block) -> int:
    return int(block.columns.stop - block.columns.start)
