"""The base class of mixtures whose components may be joined to clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpmlite.estimators.bases.mixture import MixtureEstimator
from dpmlite.estimators.column_families.by_rule import AUTO
from dpmlite.estimators.fitted.clusters import joined_attributes, normals_of, tree_of
from dpmlite.estimators.fitted.not_fitted import require_tree
from dpmlite.estimators.fitted.numbering import largest_first
from dpmlite.estimators.fitted.partitions import fitted_family, fitted_mixture
from dpmlite.estimators.fitted.surfaces import surfaces_of, warn_of_surfaces
from dpmlite.estimators.inputs.parameters import (
    check_bool,
    check_choice,
    check_count,
    check_not_negative,
    check_positive,
)
from dpmlite.estimators.inputs.shown import shown
from dpmlite.joining import (
    VALLEY_DEPTH,
    clusters_by_density,
    joined_to_limit,
    labels_of_level,
    level_of,
    tree_by_joint,
    weak_joins,
)
from dpmlite.search.context import coarsened_alpha

if TYPE_CHECKING:
    import numpy.typing as npt

    from dpmlite.estimators.inputs.data import Data, Floats
    from dpmlite.joining import NormalComponents


class JoinedMixture(MixtureEstimator):
    """A mixture whose clusters may have several components.

    A subclass has the parameters `join`, `max_clusters` and `outlier_level`; its ``fit`` keeps the
    components, then calls `_keep_clusters`, and `_label_outliers` in the end.
    """

    join: bool | str
    max_clusters: int | None
    outlier_level: float | None

    cluster_tree_: Floats
    alpha_: float
    power_: float

    def labels_at(
        self, *, depth: float | None = None, n_clusters: int | None = None
    ) -> npt.NDArray[np.intp]:
        """Labels of the rows at another level of `cluster_tree_`.

        Parameters
        ----------
        depth : float, optional
            Components join if the valley between them is less deep, in nats: 0 leaves them apart.
        n_clusters : int, optional
            Number of clusters, C at most, instead of a depth.

        Returns
        -------
        ndarray of int, shape (N,)
            Clusters are numbered by decreasing weight.

        Raises
        ------
        NotFittedError
            If there is no tree: before `fit`, or if components were not joined.
        ValueError
            Unless one of `depth` and `n_clusters` is given, and is in its range.
        """
        require_tree(self)
        tree, n_components = self.cluster_tree_, len(self.statistics_)
        if (depth is None) == (n_clusters is None):
            raise ValueError(
                "one of depth and n_clusters must be given, and not both, "
                f"got depth={shown(depth)} and n_clusters={shown(n_clusters)}"
            )
        if depth is not None:
            n_joins = level_of(tree, check_not_negative("depth", depth))
        else:
            count = check_count("n_clusters", n_clusters)
            if count > n_components:
                raise ValueError(f"n_clusters must be at most {n_components}, got {count}")
            n_joins = n_components - count
        clusters = labels_of_level(tree, n_joins)
        return largest_first(clusters, self.statistics_[:, 0])[self.component_labels_]

    def _check_joining(self) -> None:
        if not isinstance(self.join, str):
            check_bool("join", self.join)
        else:
            check_choice("join", self.join, (AUTO,), "True, False or ")
        if self.max_clusters is not None:
            check_count("max_clusters", self.max_clusters)
        if self.outlier_level is not None:
            check_positive("outlier_level", self.outlier_level)

    def _joins(self) -> bool:
        """Whether components may be joined to clusters."""
        return self._is_automatic() if self.join == AUTO else bool(self.join)

    def _keep_clusters(self, table: Data, labels: npt.NDArray[np.intp]) -> None:
        """Join the components to clusters, and keep both."""
        self.__dict__.pop("cluster_tree_", None)
        clusters = None
        if self._joins() or self.max_clusters is not None:
            clusters = self._joined_clusters(table, labels)
        self._keep_joined(clusters)

    def _joined_clusters(self, table: Data, labels: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        """The cluster of each component; keeps the tree in which components join."""
        mixture = fitted_mixture(self)
        surfaces = surfaces_of(self, mixture) if self._joins() else []
        if fitted_family(self).has_covariance:
            components = normals_of(self, mixture)
            self.cluster_tree_ = tree_of(components, table, labels)
            clusters, takes_weak = self._by_density(components, table, labels, bool(surfaces))
        else:
            self.cluster_tree_ = tree_by_joint(fitted_mixture(self))  # which merges its slots
            clusters, takes_weak = np.arange(len(self.statistics_)), self._joins()
        if takes_weak:
            for j, k in weak_joins(mixture, self._log_alpha()):
                clusters[clusters == clusters[j]] = clusters[k]
        if self.max_clusters is not None:
            clusters = joined_to_limit(clusters, self.cluster_tree_, self.max_clusters)
        clusters = np.unique(clusters, return_inverse=True)[1]
        if clusters.max() > 0:
            warn_of_surfaces(surfaces)
        return clusters

    def _by_density(
        self, components: NormalComponents, table: Data, labels: npt.NDArray[np.intp], tiled: bool
    ) -> tuple[npt.NDArray[np.intp], bool]:
        """The cluster of each component, and whether those of weak evidence join, too."""
        assert table.values is not None
        if not self._joins():
            return np.arange(len(components.means)), False
        if self.join == AUTO:
            return clusters_by_density(components, self.cluster_tree_, table.values, labels, tiled)
        level = level_of(self.cluster_tree_, VALLEY_DEPTH)
        return labels_of_level(self.cluster_tree_, level), False

    def _log_alpha(self) -> float:
        """Log of the concentration of rows that have the power as weights."""
        return float(np.log(self.power_ * coarsened_alpha(self.alpha_, self.power_)))

    def _limited(self, clusters: npt.NDArray[np.intp] | None) -> npt.NDArray[np.intp] | None:
        """Clusters of the kept components, at most `max_clusters`; None if each is one.

        Those whose union loses the least joint go first: this needs no rows.
        """
        if clusters is None:
            clusters = np.arange(len(self.statistics_))
        if self.max_clusters is not None and clusters.max() >= self.max_clusters:
            tree = tree_by_joint(fitted_mixture(self))
            clusters = joined_to_limit(clusters, tree, self.max_clusters)
        return None if len(np.unique(clusters)) == len(clusters) else clusters

    def _keep_joined(self, clusters: npt.NDArray[np.intp] | None) -> None:
        """Keep what describes components, and clusters of several of them."""
        self.component_labels_ = self.labels_
        self.component_counts_ = self.counts_
        if clusters is not None:
            vars(self).update(joined_attributes(self, clusters))

    def _label_outliers(self, X: npt.ArrayLike) -> None:
        """Give rows that are less probable than `outlier_level` the label -1."""
        if self.outlier_level is not None:
            self.labels_ = np.where(
                self.outlier_score(X) < float(self.outlier_level), -1, self.labels_
            )
