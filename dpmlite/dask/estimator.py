"""The estimator `DaskMAPDPM`."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from dpmlite.dask.chunks import chunks_of, chunks_of_weights, of_chunks
from dpmlite.dask.engine import DaskEngine
from dpmlite.estimators.bases.estimator import Estimator
from dpmlite.estimators.fitted.not_fitted import require_fitted
from dpmlite.estimators.map_dpm.chunk_tables import WeightedChunk, length_of
from dpmlite.estimators.map_dpm.chunked_fit import ChunkedFit
from dpmlite.estimators.mapdpm import MAPDPM

if TYPE_CHECKING:
    from collections.abc import Callable

    from dask.array import Array
    from distributed import Client

    Method = Callable[..., Any]


# What all methods for new rows take and return.
SECTIONS = """

        Parameters
        ----------
        X : dask array or data frame, or array-like, shape (N, D)

        Returns
        -------
        dask.array.Array or ndarray, shape {shape}
            In the chunks of `X`, and not yet computed; an ndarray if `X` is not of Dask.
        """


def with_sections(shape: str) -> Callable[[Method], Method]:
    """A decorator that adds `SECTIONS` to the docstring of a method."""

    def add(method: Method) -> Method:
        method.__doc__ = f"{method.__doc__}{SECTIONS.format(shape=shape)}"
        return method

    return add


class DaskMAPDPM(Estimator):
    """`MAPDPM` on the chunks of a Dask array or data frame.

    Rows stay on the workers. What travels are statistics of clusters and, to find and to divide
    clusters, samples of 20,000 rows, at most five of them at once. The joint is that of all rows,
    and the clusters are near those of a `MAPDPM` of all rows on one machine.

    Results depend on the rows, the chunks and `random_state`, but neither on the number of workers
    nor on workers that are lost.

    Parameters
    ----------
    client : distributed.Client, optional
        Default: the current client.
    **parameters
        Those of `MAPDPM`, but for labels as `init` and for `outlier_level`. `n_jobs` is the number
        of threads of the driver.

    Attributes
    ----------
    labels_ : dask.array.Array of int, shape (N,)
        The cluster of each row, in the chunks of `X` that are not empty.
    client_ : distributed.Client
        The client that was used.
    n_sweeps_ : int
        Sweeps that a chunk has made at most.
    neg_log_joint_trace_ : ndarray
        The objective after each round of proposals.

    Other attributes are those of `MAPDPM`, but for `component_labels_`, `neg_log_loo_` and
    `n_empty_clusters_`.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from distributed import Client
    >>> from dpmlite.dask import DaskMAPDPM
    >>> rows = np.concatenate([np.random.default_rng(0).normal(c, 1, (50, 2)) for c in (0, 10)])
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     model = DaskMAPDPM(random_state=0).fit(da.from_array(rows, chunks=(30, 2)))
    ...     model.labels_.chunks
    ((30, 30, 30, 10),)
    >>> model.to_local().n_clusters_
    2
    """

    client: Client | None
    labels_: Array
    client_: Client

    def __init__(self, *, client: Client | None = None, **parameters: Any) -> None:
        self.client = client
        vars(self).update(MAPDPM(**parameters).get_params())

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the most probable partition of the rows of `X`.

        Parameters
        ----------
        X : dask.array.Array, shape (N, D), or dask.dataframe.DataFrame
            Its chunks are computed once and stay in the memory of the workers. Lengths of chunks
            may be unknown. Chunks of 10,000 to a million rows are best.
        y : ignored
            There for scikit-learn.
        sample_weight : dask.array.Array, shape (N,), or dask.dataframe.Series, optional
            Weights as of `MAPDPM.fit_chunks`, in as many chunks as `X`.

        Returns
        -------
        DaskMAPDPM
            Itself, fitted.

        Raises
        ------
        ValueError, TypeError
            If a chunk or a parameter breaks its rule; the message states it, and names the chunk.
            Also if there is no client.
        """
        client = self._client()
        engine, lengths = _engine_of(client, X, sample_weight)
        local = MAPDPM(**self._local_parameters())
        ChunkedFit(local, engine).run()
        self._forget()
        vars(self).update(_fitted(local))
        self.client_, self.labels_ = client, self._labels(engine, lengths)
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Cluster the rows of `X` and return their labels.

        Parameters
        ----------
        X, sample_weight
            As in `fit`.
        y : ignored
            There for scikit-learn.

        Returns
        -------
        dask.array.Array of int, shape (N,)
            `labels_`.
        """
        return self.fit(X, sample_weight=sample_weight).labels_

    def to_local(self) -> MAPDPM:
        """The fitted model without Dask: it predicts, saves, and goes on with `partial_fit`.

        Returns
        -------
        MAPDPM
            It has no labels.
        """
        require_fitted(self)
        local = MAPDPM(**self._local_parameters())
        vars(local).update(_fitted(self))
        return local

    @with_sections("(N,)")
    def predict(self, X: Any) -> Any:
        """Most probable cluster of new rows; -1 for those that found a new one."""
        return of_chunks(self._predictor(), "predict", X, np.dtype(np.intp))

    @with_sections("(N, K)")
    def predict_proba(self, X: Any) -> Any:
        """Probability of each cluster for new rows; see `MAPDPM.predict_proba`."""
        model = self._predictor()
        width = model.n_clusters_
        return of_chunks(model, "predict_proba", X, np.dtype(np.float64), width)

    @with_sections("(N,)")
    def score_samples(self, X: Any) -> Any:
        """Log predictive density of new rows, in nats; see `MAPDPM.score_samples`."""
        return of_chunks(self._predictor(), "score_samples", X, np.dtype(np.float64))

    @with_sections("(N,)")
    def outlier_score(self, X: Any) -> Any:
        """Share of the model's rows less probable than each row; see `MAPDPM.outlier_score`."""
        return of_chunks(self._predictor(), "outlier_score", X, np.dtype(np.float64))

    def _predictor(self) -> MAPDPM:
        """What workers predict with: without the callback, which may belong to this process."""
        return self.to_local().set_params(callback=None)

    def _client(self) -> Client:
        if self.client is not None:
            return self.client
        from distributed import default_client

        return default_client()

    def _local_parameters(self) -> dict[str, Any]:
        parameters = self.get_params()
        del parameters["client"]
        return parameters

    def _labels(self, engine: DaskEngine, lengths: list[int]) -> Array:
        """Labels of all rows as an array of one chunk for each chunk that the engine has."""
        import dask.array as da

        futures = engine.labels
        if hasattr(self, "cluster_of_component_"):
            clusters = self.cluster_of_component_
            futures = [engine.client.submit(np.take, clusters, labels) for labels in futures]
        pieces = zip(futures, lengths, strict=True)
        return da.concatenate([da.from_delayed(labels, (n,), np.intp) for labels, n in pieces])

    def _forget(self) -> None:
        """Drop the attributes of an earlier fit."""
        for name in _fitted(self):
            delattr(self, name)


def _engine_of(client: Client, X: Any, sample_weight: Any) -> tuple[DaskEngine, list[int]]:
    """An engine of the chunks that have rows, and their numbers of rows."""
    chunks = client.compute(chunks_of(X))
    if sample_weight is not None:
        weights = client.compute(chunks_of_weights(sample_weight, len(chunks)))
        pairs = zip(chunks, weights, strict=True)
        chunks = [client.submit(WeightedChunk, *pair, pure=False) for pair in pairs]
    lengths = client.gather([client.submit(length_of, chunk) for chunk in chunks])
    if not any(lengths):
        raise ValueError(f"X must have at least one row, got {len(chunks)} empty chunks")
    kept = [j for j, n in enumerate(lengths) if n]
    return DaskEngine(client, [chunks[j] for j in kept], kept), [lengths[j] for j in kept]


def _fitted(model: Estimator) -> dict[str, Any]:
    """Fitted attributes that describe clusters."""
    kept = {name: value for name, value in vars(model).items() if name.endswith("_")}
    for name in ("labels_", "client_"):
        kept.pop(name, None)
    return kept


def _signature() -> inspect.Signature:
    """The parameters of `MAPDPM`, and the client before them."""
    own, local = (inspect.signature(each.__init__) for each in (DaskMAPDPM, MAPDPM))
    (itself, *parameters) = local.parameters.values()
    return local.replace(parameters=[itself, own.parameters["client"], *parameters])


DaskMAPDPM.__init__.__signature__ = _signature()  # type: ignore[attr-defined]
