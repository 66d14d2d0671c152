"""Columns that lie on a curved surface: a warning, for several components tile it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpmlite.estimators.fitted.partitions import fitted_family
from dpmlite.estimators.inputs.user_warnings import warn
from dpmlite.joining import NormalComponents, columns_of_surface

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from dpmlite import families
    from dpmlite.estimators.fitted.clusters import Components


def surfaces_of(model: Components, mixture: families.Component) -> list[list[object]]:
    """Names of the columns of each surface that components, the slots of a mixture, tile."""
    on_surface = (
        [keys[j] for j in columns_of_surface(normals)]
        for keys, normals in _full_blocks(model, mixture)
    )
    return [names for names in on_surface if names]


def warn_of_surfaces(surfaces: Iterable[list[object]]) -> None:
    """Warn of each surface, as there is where one column follows from others."""
    for names in surfaces:
        warn(
            f"columns {', '.join(map(str, names))} lie on a curved surface, as where one follows "
            "from the others: components tile it, which may show as clusters; leave one of these "
            "columns out"
        )


def _full_blocks(
    model: Components, mixture: families.Component
) -> Iterator[tuple[list[object], NormalComponents]]:
    """Names of the columns of each block with full covariance, and the components there."""
    family = fitted_family(model)
    if not family.is_full:
        return
    posteriors = [mixture.posterior(k) for k in range(len(model.statistics_))]
    priors = [family.as_prior(posterior, model.prior_) for posterior in posteriors]
    means = np.array([family.coded_means(prior) for prior in priors])
    keys = family.column_keys
    if keys is None:
        keys = list(getattr(model, "feature_names_in_", range(means.shape[1])))
    for parts in zip(*map(family.full_covariances, posteriors), strict=True):
        columns = parts[0][0]
        covariances = np.array([covariance for _, covariance in parts])
        normals = NormalComponents(model.weights_, means[:, columns], covariances)
        yield keys[columns], normals
