"""The base class of estimators with a component family."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import compress
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dpmlite.core.checks import check_least_weight
from dpmlite.estimators.bases.estimator import Estimator
from dpmlite.estimators.column_families.by_joint import columns_by_joint, recoded
from dpmlite.estimators.column_families.by_rule import (
    AUTO,
    COLUMN_FAMILIES,
    check_component,
    coded_numbers,
    with_full_covariance,
)
from dpmlite.estimators.column_families.given import mixed_table
from dpmlite.estimators.default_model.automatic import (
    MAX_FULL_COLUMNS,
    candidates,
    choose_model,
    first_labels_of_sample,
)
from dpmlite.estimators.default_model.model import (
    SATURATION,
    Model,
    certain_power_of,
    design_effect_of,
    times,
    weights_as_certainty,
)
from dpmlite.estimators.fitted.partitions import fitted_family
from dpmlite.estimators.inputs.columns import FULL
from dpmlite.estimators.inputs.parameters import check_bool, check_choice
from dpmlite.estimators.inputs.reading import has_categories, is_frame, read_columns
from dpmlite.estimators.inputs.row_numbers import warn_of_row_numbers
from dpmlite.estimators.inputs.sample_weights import check_sample_weight
from dpmlite.estimators.inputs.shown import shown
from dpmlite.estimators.inputs.user_tables import column_names
from dpmlite.estimators.priors import COMPONENTS, FAMILIES, family_of_keys, mixed_family
from dpmlite.estimators.priors.lacking import check_complete
from dpmlite.estimators.priors.moments import Moments
from dpmlite.estimators.priors.outliers import warn_of_codes, warn_of_outliers
from dpmlite.search.progress import Progress
from dpmlite.search.search import Search

if TYPE_CHECKING:
    import numpy.typing as npt

    from dpmlite.estimators.default_model.model import Seeds
    from dpmlite.estimators.inputs.choices import Prior
    from dpmlite.estimators.inputs.data import Data, Indices
    from dpmlite.estimators.priors.base import Family


class FamilyEstimator(Estimator):
    """An estimator that reads tables by the rules of its component family.

    A subclass has the parameters `component`, `prior`, `alpha` and `allow_missing`; its ``fit``
    keeps what was used in `component_`, `prior_`, `alpha_` and `allow_missing_`.

    Attributes
    ----------
    component_choices : tuple of str
        Values of `component` besides "auto".
    column_choices : tuple of str
        Families of single columns.
    prior_choices : tuple of str
        Values of `prior` that are text.
    """

    component_choices: ClassVar[tuple[str, ...]] = COMPONENTS
    column_choices: ClassVar[tuple[str, ...]] = COLUMN_FAMILIES
    prior_choices: ClassVar[tuple[str, ...]] = (AUTO, "paper")

    component: Any
    alpha: Any
    allow_missing: bool
    prior: Any
    discount: float = 0.0  # of estimators that do not have the parameter

    component_: Any
    allow_missing_: bool
    prior_: Prior
    discount_: float = 0.0  # kept if it is positive

    def score_samples(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Log predictive density of new rows; implemented by subclasses."""
        raise NotImplementedError

    def score(self, X: npt.ArrayLike, y: Any = None, sample_weight: Any = None) -> float:
        """Mean log predictive density of new rows, for GridSearchCV: higher is better.

        Parameters
        ----------
        X : array-like or scipy.sparse matrix, shape (N, D)
        y : ignored
            There for scikit-learn.
        sample_weight : array-like, shape (N,), optional
            How many equal rows each row stands for.

        Returns
        -------
        float
            In nats a row.

        Raises
        ------
        ValueError, TypeError
            As `score_samples`; or if the weights break the rules of those of `fit`.
        """
        densities = self.score_samples(X)
        weights = check_sample_weight(sample_weight, len(densities))
        return float(np.average(densities, weights=weights))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        family = FAMILIES.get(self.component) if isinstance(self.component, str) else None
        tags.input_tags.allow_nan = bool(self.allow_missing)
        tags.input_tags.sparse = tags.input_tags.positive_only = (
            family is not None and family.takes_sparse
        )
        return tags

    def _check_model_parameters(self) -> None:
        if isinstance(self.component, Mapping):
            check_component(self.component, self.column_choices)
        elif not isinstance(self.component, str) or (
            self.component in FAMILIES or self.component not in self.column_choices
        ):
            check_choice("component", self.component, (AUTO, *self.component_choices))
        if isinstance(self.prior, str):
            check_choice("prior", self.prior, self.prior_choices, "a dict, None or ")
        elif not isinstance(self.prior, Mapping | None):
            raise ValueError(f"prior must be a dict of its keys, or None, got {shown(self.prior)}")
        if not self._is_mixed():
            check_choice("component", self._family().name, self.component_choices)

    def _is_mixed(self) -> bool:
        """Whether the parameters say that columns have families of their own."""
        return self.component not in (AUTO, *FAMILIES)

    def _has_default_prior(self) -> bool:
        return isinstance(self.prior, str) and self.prior == AUTO

    def _is_automatic(self) -> bool:
        """Whether the joint chooses hyperparameters."""
        return self._has_default_prior() and (self._is_mixed() or self._family().can_fit_prior)

    def _weighs_certainty(self) -> bool:
        """Whether weights tell how sure rows are; if not, how many equal rows each stands for.

        A discount needs whole rows.
        """
        return self._has_default_prior() and float(self.discount) == 0.0

    def _family(self) -> Family:
        """The family that reads tables and, unless the joint chooses, that of the fit."""
        if isinstance(self.component, str) and self.component in FAMILIES:
            return FAMILIES[self.component]
        if isinstance(self.prior, Mapping):
            return family_of_keys(self.prior)
        return FAMILIES["normal-gamma"]

    def _family_of(self, table: Data) -> Family:
        """The family of a table that was read."""
        return self._family() if table.columns is None else mixed_family(table.columns)

    def _candidates(self, table: Data) -> list[Family]:
        """The families among which the joint chooses."""
        if table.columns is not None:
            together = None
            if self.component == AUTO and FULL in self.component_choices:
                together = with_full_covariance(table.columns, MAX_FULL_COLUMNS)
            of_columns = [table.columns] if together is None else [table.columns, together]
            return [mixed_family(columns) for columns in of_columns]
        if self.component != AUTO:
            return [self._family()]
        found = candidates(table.shape[1])
        return [family for family in found if family.name in self.component_choices]

    def _choose_model(
        self,
        search: Search,
        table: Data,
        moments: Moments,
        seeds: Seeds,
        power: float,
        completes: bool = False,
    ) -> tuple[Model, Data, Indices]:
        """The model that the joint chooses, the table with its ties spread, and labels to start.

        `power` is that of the likelihood of a row of weight 1. If `completes`, missing cells of
        columns with full covariance are drawn. Otherwise families with such columns are not tried
        where cells may be missing.
        """
        warn_of_columns(table, moments)
        found = None
        if table.columns is not None:
            table, found = self._with_columns_by_joint(search, table, seeds)
        families = self._candidates(table)
        if self.allow_missing and not completes:
            check_complete(families[0], table)
            families = [families[0], *(each for each in families[1:] if not each.is_full)]
        first = FAMILIES["normal-gamma"] if table.columns is None else families[0]
        table = first.prepared(table)
        table, power = weights_as_certainty(table, power)
        template = self._model(first, table, {}, power)
        return choose_model(search, families, table, template, seeds, found)

    def _with_columns_by_joint(
        self, search: Search, table: Data, seeds: Seeds
    ) -> tuple[Data, Indices | None]:
        """A coded table under the families of columns that the joint chooses.

        Also the labels of a sample by which it chooses; None if the families are given.
        """
        assert table.columns is not None
        given = self.component if isinstance(self.component, Mapping) else {}
        fixed = [c for c in table.columns.levels if given.get(c, self.component) != AUTO]
        if len(fixed) == len(table.columns.levels):
            return table, None
        template = self._model(mixed_family(table.columns), table, {})
        certain = weights_as_certainty(table, 1.0)[0]
        sample, labels = first_labels_of_sample(search, template, certain, seeds)
        sample = times(sample, float(table.row_weights().min()))  # weighted as the table
        columns = columns_by_joint(table, sample, labels, search.progress.stop, fixed)
        return recoded(table, columns), labels

    def _find_model(
        self, table: Data, rng: np.random.Generator, progress: Progress | None = None
    ) -> tuple[Model, Data]:
        """The model that `component` and `prior` say, and the rows to fit.

        Rows count whole. If the joint chooses hyperparameters, ties of the rows are spread. The
        greatest weight is 1 if weights tell how sure rows are.
        """
        if self._weighs_certainty():
            table = table.with_bounded_weights()
        if self._is_automatic():
            seeds = rng.integers(2**63, size=1)
            search = Search(progress=progress or Progress())
            effect = design_effect_of(table)
            power = certain_power_of(table.total_weight, table.shape[0], SATURATION, effect)
            model, table, _ = self._choose_model(search, table, Moments.of(table), seeds, power)
            return replace(model, power=1.0), _with_greatest_weight_1(table)
        family = self._family_of(table)
        check_complete(family, table)
        if self._weighs_certainty():
            table = _with_greatest_weight_1(table)
        given = None if isinstance(self.prior, str) else self.prior
        prior = family.prior(given, table)
        return self._model(family, table, prior), table

    def _model(self, family: Family, table: Data, prior: Prior, power: float = 1.0) -> Model:
        """A model of a table with the parameters' concentration."""
        discount = float(self.discount)
        check_least_weight(discount, 1.0 if table.weights is None else table.weights.min())
        return Model(
            family,
            self.allow_missing,
            prior,
            self._alpha(),
            power,
            has_missing=self.allow_missing and table.has_missing(),
            discount=discount,
        )

    def _alpha(self) -> float:
        """The concentration, until a method has chosen it."""
        return 1.0 if isinstance(self.alpha, str) else float(self.alpha)

    def _read(self, X: Any) -> Data:
        names = column_names(X)
        self._check_prior_names(names)
        allow_missing = check_bool("allow_missing", self.allow_missing)
        if self._is_mixed() or (self.component == AUTO and is_frame(X)):
            cells = read_columns(X)
            if self._is_mixed() or has_categories(cells):
                return mixed_table(cells, self.component, allow_missing, self.column_choices)
        table = self._family().read(X, allow_missing)
        if names is not None:
            table = replace(table, names=names.tolist())
        return coded_numbers(table, X, self.column_choices) if self._is_open() else table

    def _is_open(self) -> bool:
        """Whether the cells of a table decide on the families of its columns."""
        return self.component == AUTO and self._is_automatic()

    def _check_prior_names(self, names: npt.NDArray[np.object_] | None) -> None:
        """Raise ValueError if a Series in the prior has other names than the columns of `X`."""
        for key, value in self.prior.items() if isinstance(self.prior, Mapping) else ():
            given = column_names(value, "index")
            if names is not None and given is not None and list(given) != list(names):
                raise ValueError(
                    f"prior {key} must be of the columns {list(names)} in this order, "
                    f"got {list(given)}"
                )

    def _read_as_fitted(self, X: Any) -> Data:
        return fitted_family(self).read(X, self.allow_missing_)


def _with_greatest_weight_1(table: Data) -> Data:
    """A table whose heaviest row counts as one."""
    return table if table.weights is None else times(table, 1.0 / float(table.weights.max()))


def warn_of_columns(table: Data, moments: Moments) -> None:
    """Warn of columns that are constant, that outliers or codes make wide, or that number the rows.

    Raises
    ------
    ValueError
        If values are too large.
    """
    of_numbers = moments if table.columns is None else moments.part(table.columns.is_real)
    of_numbers.variances()  # warns of constant columns, and refuses values too large
    warn_of_outliers(table.numbers(), of_numbers)
    warn_of_codes(table, moments)
    if moments.names is None or table.values is None:
        return
    levels = {} if table.columns is None else table.columns.levels
    are_numbers = [levels.get(name) is None for name in moments.names]
    warn_of_row_numbers(compress(moments.names, are_numbers), table.values[:, are_numbers])
