"""Log densities of rows in each cluster, as the columns of a transformer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite import algorithms
from dpmlite.distributed.statistics import load
from dpmlite.estimators.bases.described import DescribedMixture
from dpmlite.estimators.bases.set_output import SetOutput
from dpmlite.estimators.fitted.partitions import fitted_component

if TYPE_CHECKING:
    import numpy.typing as npt


class ClusterDensities(SetOutput, DescribedMixture):
    """A fitted mixture that is a transformer of scikit-learn, too."""

    def transform(self, X: npt.ArrayLike) -> Any:
        """Log predictive density of new rows in each cluster, in nats.

        Rows of one cluster have alike densities in all clusters: these are features for another
        model. Unlike those of `predict_proba` they tell how far from all clusters a row is.

        Parameters
        ----------
        X : array-like or scipy.sparse matrix, shape (N, D)

        Returns
        -------
        ndarray or DataFrame, shape (N, K)
            A DataFrame if `set_output`, or else scikit-learn's configuration, asks for one.

        Raises
        ------
        NotFittedError, ValueError, TypeError
            As `predict`.
        """
        data = self._read_new(X)
        component, rows = fitted_component(self), data.rows()
        densities = np.empty((self.n_clusters_, len(rows)))
        for k, members in enumerate(self._components_of_clusters()):
            load(component, self.statistics_[members])
            weights = np.array(component.counts)
            algorithms.log_mixture_density(
                rows, component, np.log(weights / weights.sum()), densities[k]
            )
        return self._in_container((densities - data.log_volumes()).T, X)

    def _components_of_clusters(self) -> list[npt.NDArray[np.intp]]:
        """The components of each cluster, by their numbers."""
        clusters = getattr(self, "cluster_of_component_", np.arange(self.n_clusters_))
        return [np.flatnonzero(clusters == k) for k in range(self.n_clusters_)]
