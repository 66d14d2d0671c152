"""Columns that lie on a curved surface: a warning, for several components tile it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpmlite.estimators.fitted.partitions import fitted_family, fitted_mixture
from dpmlite.estimators.inputs.validation import warn
from dpmlite.joining import NormalComponents, columns_of_surface

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dpmlite.estimators.fitted.clusters import Components


def warn_of_surfaces(model: Components) -> None:
    """Warn if columns lie on a surface, as where one follows from others, and name them."""
    for keys, normals in _full_blocks(model):
        columns = columns_of_surface(normals)
        if len(columns) > 0:
            names = ", ".join(str(keys[j]) for j in columns)
            warn(
                f"columns {names} lie on a curved surface, as where one follows from the others: "
                "components tile it, which may show as clusters; leave one of these columns out"
            )


def _full_blocks(model: Components) -> Iterator[tuple[list[object], NormalComponents]]:
    """Names of the columns of each block with full covariance, and the components there."""
    family, mixture = fitted_family(model), fitted_mixture(model)
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
