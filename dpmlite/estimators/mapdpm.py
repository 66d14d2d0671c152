"""The estimator `MAPDPM`: the most probable partition of a Dirichlet process mixture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from dpmlite.core.threads import on_threads
from dpmlite.distributed.engine import MapEngine
from dpmlite.estimators.bases.estimator import all_or_nothing
from dpmlite.estimators.map_dpm.chunk_tables import load_chunk, weighted_chunks
from dpmlite.estimators.map_dpm.chunked_fit import ChunkedFit
from dpmlite.estimators.map_dpm.first_rows import FirstRows
from dpmlite.estimators.map_dpm.fits import MapFits
from dpmlite.estimators.map_dpm.forgetting import remembered
from dpmlite.estimators.map_dpm.streaming import FittedClusters

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from dpmlite.estimators.inputs.choices import (
        AlphaChoice,
        AlphaPrior,
        Auto,
        Component,
        PriorOrScales,
        VisitOrder,
    )
    from dpmlite.search.progress import Callback


class MAPDPM(MapFits):
    """Clustering by the most probable partition of a Dirichlet process mixture.

    The number of clusters is found, not given. By default the joint probability of data and labels
    chooses the family of the components and its hyperparameters, evidence saturates, so that more
    rows do not buy ever more clusters, and components that no valley in the density separates are
    one cluster. ``prior="paper"`` is the model of [1]_, without these steps.

    The default search starts from a recombination of many short searches. It sweeps over the rows
    as the algorithm of [1]_ does, and also merges, splits and exchanges whole components. Every
    step lowers `neg_log_joint_`, minus the log of the joint probability.

    Parameters
    ----------
    component : str or dict, default "auto"
        Family of the components, or a dict with the family of each column. "auto" is, with
        ``prior="auto"``, the better of the first two by the joint, the second only up to 40
        columns; in tables with columns of text, of few values, of many zeros or with a long tail
        upwards, each column has a family of its own; with a dict as `prior` it is the family that
        has its keys; otherwise "normal-gamma".

        - "normal-gamma": independent columns, each normal with unknown mean and precision;
        - "normal-inverse-wishart": normal with an unknown, full covariance matrix;
        - "normal-known-variance": independent normal columns of known variance;
        - "dirichlet-multinomial": counts, such as the words of documents;
        - "beta-bernoulli": independent columns of 0 and 1.

        For single columns there are also "categorical" (text, truth values, or numbers that are
        codes), "poisson-gamma" (counts of events), "log-normal" (positive numbers),
        "zero-inflated-normal" and "zero-inflated-log-normal" (numbers of which many are 0) and
        "auto", which columns are that a dict does not have. Keys of a dict are names of columns, or
        their places if they have no names; a tuple of columns as key, with "normal-inverse-wishart"
        or "log-normal", has one covariance matrix, and with "categorical" is of one-hot columns.
        One column may be the "exposure": the time, area or population in which the counts of events
        of each row were taken, so that clusters have rates.
    alpha : float or {"map", "mode", "nll", "loo", "cv"}, default 1.0
        Concentration of the Dirichlet process; larger values favour, weakly, more clusters. Or a
        method that chooses it, appendix A.3 of [1]_:

        - "map": the joint mode of labels and log alpha, under `alpha_prior`. There always is one,
          and it does not depend on whether alpha or 1 / alpha is the parameter;
        - "mode": that of labels and alpha itself, eq. (25) and (26) as printed. It is lower, and is
          0, an error, where K and the shape of the prior sum to 2 or less;
        - "nll": the one of `alphas` with the least `neg_log_joint_`;
        - "loo": the one of `alphas` with the least `neg_log_loo_`, the NLL that the paper prints,
          eq. (16): each row is predicted from the others of its cluster;
        - "cv": the one of `alphas` with the greatest log density of held-out rows, in `cv` folds.
    prior : {"auto", "paper", "nll"} or dict, default "auto"
        Hyperparameters of the family. "auto", for the first two families, takes those with the
        least joint, of labels and hyperparameters in turn, on a sample of 2,000 rows at most; it
        also spreads values on a grid, such as rounded ones or bits, over the cells of the grid, for
        a normal could else be infinitely dense there. For other families it is "paper": section 4.2
        of [1]_, and what corresponds to it. A dict has some of the keys below, a scalar stands for
        all columns, missing keys have these defaults, where N is the number, or the total weight,
        of the rows. A pandas Series must have the names of the columns in their order. The prior of
        a mixed table has a dict for each family, under its name.

        - "normal-gamma": ``m0`` the means of the columns, ``c0`` 10 / N, ``a0`` 1, ``b0`` the
          variances of the columns: section 4.2 of [1]_. With this prior, labels depend neither on
          units nor on the origin of a column.
        - "normal-inverse-wishart": ``m0`` the means of the columns, ``kappa0`` 10 / N, ``nu0``
          D + 2, ``psi0``, which must have shape (D, D), such that the expected covariance is
          diagonal, with the variances of the columns.
        - "normal-known-variance": ``m0`` the means of the columns; ``sigma2``, the variance within
          clusters, a tenth of the variances of the columns; ``tau2``, the variance of the clusters'
          means, the variances of the columns.
        - "dirichlet-multinomial": ``beta0`` 1.
        - "beta-bernoulli": ``a0``, ``b0`` with a sum of 2 and the columns' frequencies of ones as
          means.
        - "categorical": ``beta0`` 1, of every level.
        - "poisson-gamma": ``a0`` 1, ``b0`` such that the prior's mean is that of the column, or its
          rate if there is an exposure.

        "nll" multiplies the default scales (``c0`` and ``b0``; ``kappa0`` and ``psi0``; ``sigma2``
        and ``tau2``; ``beta0``; ``a0`` and ``b0`` together) by the powers of 2, from 2^-14 to 2^14,
        with the least `neg_log_joint_` on a sample of 2,000 rows at most. They are chosen before
        `alpha`. Constant columns keep the default. Where many rows or cells are equal, as in
        rounded tables, the objective may fall as long as the prior narrows: a warning is issued if
        the width of a cluster ends at 2^-14.
    discount : float, default 0.0
        Discount d of the Pitman-Yor process [3]_, at least 0 and below 1. A cluster of n rows then
        weighs n - d in the prior, and a new one ``alpha + K * d``: numbers of clusters grow like a
        power of N, and many clusters are small. 0 is the Dirichlet process. A positive one needs
        ``prior="paper"``, "nll" or a dict, no `robustness`, and an `alpha` that is a number, "nll",
        "loo" or "cv"; and each row a weight above d.
    robustness : {"auto", None} or float, default "auto"
        Number of rows, r, up to which evidence grows: the likelihood of each of N rows counts with
        the power r / (r + N) [2]_, and so does `alpha` above 1. Models are never exactly true, and
        with ever more rows ever finer misfit would buy components. "auto" is 2,000 with
        ``prior="auto"`` and None otherwise; None is the power 1. With ``prior="auto"``, N rows of
        groups that share values, such as the houses of a town, count as N / d, and the power is
        r / (d r + N), with the design effect d [4]_.
    join : {"auto", True, False}, default "auto"
        Whether components between which the density of the rows has no valley are one cluster.
        "auto" is True with ``prior="auto"``, but where normal components describe the rows, these
        are clusters that may overlap: the valley between two is then that of their own density. In
        one or two columns, they have to exclude other shapes.
    max_clusters : int, optional
        Greatest number of clusters. Further components are joined, those with the shallowest
        valleys first; without rows, those whose union loses the least joint.
    outlier_level : float, optional
        Rows whose `outlier_score` is below get the label -1: 0.001, for example.
    alpha_prior : tuple of two floats or "inverse-gamma", default (1.0, 1.0)
        For ``alpha="map"`` and "mode": shape and rate of a gamma prior of alpha, eq. (26); or the
        prior of eq. (25), which needs more than K - 1/2 rows (for "mode", K - 3/2), or as much
        weight, for K clusters.
    alphas : array-like, optional
        Candidates, for ``alpha="nll"``, "loo" and "cv". Default: 0.01 to 100, three a decade.
    cv : int or splitter, default 5
        Number of folds of ``alpha="cv"``, of rows at random; or one of scikit-learn's splitters,
        or any object whose ``split`` gives rows to learn from and rows to leave out among those of
        positive weight. All folds use the prior of the whole table.
    allow_missing : bool, default False
        Whether NaN is a missing value. It is left out where columns are independent within a
        cluster, which is exact: with "normal-gamma", "beta-bernoulli" and the families of single
        columns. With "normal-inverse-wishart" it is drawn, given the other cells and the cluster.
    init : str or array-like, default "auto"
        Start: labels of shape (N,), or the name of a method. "single" is one cluster, as in [1]_;
        "unreinforced" is that, too, but the cluster counts as one row in the first sweep, as in the
        program of the authors of [1]_; "singletons" is one cluster a row; "sequential" places one
        row after the other; "random" draws labels; "search" takes the labels of `DPSearch` with a
        beam of 10. "auto" recombines short descents from random seeds, on a sample of 2,000 rows at
        most, until they find nothing better or clusters look normal. Then the other rows join; in
        tables of 512,000 rows or more, a sixteenth of them does so first. If most clusters do not
        look normal in the end, starts from other samples follow, in tables of up to a million
        cells. With ``split_merge=False``, "auto" keeps the better of "single" and "singletons"
        ("sequential" for more than 2,000 rows).
    order : {"fixed", "random"}, default "fixed"
        Whether the sweeps of a descent visit rows in one order, or each in a new random order, as
        the program of the authors of [1]_ does. Random orders take longer on large tables.
    split_merge : bool, default True
        Whether to merge, split and exchange clusters once no row moves.
        ``split_merge=False, init="single"`` is Algorithm 1 of [1]_ exactly.
    n_init : int, default 1
        Number of restarts, of which the one with the least objective wins. With ``init`` "auto",
        "unreinforced", "random", "sequential" or "search" they have different random starts,
        otherwise only different proposals of splits; with "auto" their results are also recombined.
    max_sweeps : int, default 1000
        Greatest number of sweeps over all rows in each restart, after its start is made.
    memory : int, optional
        Rows from which on `partial_fit` forgets, 2 or more: before it learns new rows, it halves
        the rows of all components, until they have fewer than `memory` together. Means, variances
        and shares stay; a component that had a single row is forgotten. Default: streams forget
        nothing, nor does `fit`.
    random_state : None, int, Generator or RandomState, default None
        Source of chance for proposals and restarts.
    n_jobs : int or None, default 1
        Number of threads that share the restarts or, for one restart, its sweeps and splits. As in
        scikit-learn, None is one, -1 one a processor, -2 one less; there are eight a processor at
        most. Results do not depend on it.
    max_seconds : float, optional
        Seconds after which the fit ends, between two steps, with a `ConvergenceWarning`; it keeps
        the best so far. Joining and what else must follow come on top, and one step of a large
        table may take seconds.
    callback : callable, optional
        ``callback(step, neg_log_joint, n_clusters)`` is called after each step, by one thread at a
        time; a true result ends the fit, which keeps the best so far. The step is text, such as
        "best sweep"; the joint is that of the search at hand, in its own unit: the first are of a
        sample of the rows. If the callback raises, `fit` does, and the estimator is as it was.
        `save` refuses a callback.
    verbose : bool or int, default False
        Whether to tell each step in a line: printed, or logged by the logger "dpmlite" if it takes
        level INFO. After five seconds a line says what may make the fit long, such as skewed
        columns.

    Attributes
    ----------
    labels_ : ndarray of int, shape (N,)
        The cluster of each row, 0..K-1, numbered by decreasing weight.
    n_clusters_ : int
        Number of clusters, K.
    component_labels_ : ndarray of int, shape (N,)
        The component of each row, 0..C-1; the same as `labels_` if components are not joined.
    cluster_of_component_ : ndarray of int, shape (C,)
        The cluster of each component, if components are joined.
    cluster_tree_ : ndarray, shape (C - 1, 4)
        The tree in which components join, in the form of scipy's linkage, if they are joined or
        there are `max_clusters`: two clusters, the depth of the valley between them in nats, and
        the number of their components. `labels_at` has the labels of any level.
    statistics_ : ndarray, shape (C, L)
        Sufficient statistics of each component: L numbers, the first its weight.
    component_counts_ : ndarray of int, shape (C,)
        Rows of each component.
    power_ : float
        Power with which the likelihood of a row counts: what a row of weight 1 weighs in
        `statistics_`.
    counts_ : ndarray of int, shape (K,)
        Rows of each cluster.
    weights_ : ndarray, shape (K,)
        Weight of each cluster as a part of the total weight.
    means_ : ndarray, shape (K, D)
        Posterior mean of a row of each cluster, in the units of the data; for
        "dirichlet-multinomial" the expected share of each word.
    variances_ : ndarray, shape (K, D)
        Variance of the rows of each cluster, given the expected parameters; of the logarithms in
        log-normal columns.
    cluster_centers_ : ndarray, shape (K, D)
        Mean of the rows of each cluster; in zero-inflated columns, of the cells that are not 0.
    level_probabilities_ : dict
        Of each categorical column the expected probabilities of its levels, shape (K, L); of a
        zero-inflated one, that a cell is not 0, and that it is.
    discount_ : float
        Discount that was used, if it is positive.
    alpha_ : float
        Concentration that was used.
    alphas_, alpha_scores_ : ndarray
        Candidates for alpha, and for each the least objective found with ``alpha="nll"``, that of
        eq. (16) with "loo", or the mean log density of held-out rows with "cv".
    component_, allow_missing_, prior_ : str or dict, bool, dict
        Family, treatment of NaN and prior that were used. In mixed tables `component_` is a dict.
    levels_, log_columns_ : dict, tuple
        In mixed tables the levels of each column, None for numbers, and the columns of which
        logarithms are clustered.
    neg_log_joint_ : float
        The objective, -log p(z | alpha) - sum_k log p(x_k | theta_0), in nats, every constant
        included. With `robustness`, the likelihood of a row has a power, r, and p(z | alpha) is the
        product of alpha Gamma(1 + r n_k) / n_k over a rising factorial of alpha. Joints of unlike
        powers do not compare. Where missing cells were drawn, it is an estimate of that of the
        known cells: minus the log joint of complete rows, plus the log density of the draws.
    neg_log_joint_trace_ : ndarray
        The objective after each step of the best restart; it never rises.
    neg_log_loo_ : float
        The paper's likelihood, -log of eq. (16), of the same labels.
    n_sweeps_ : int
        Number of sweeps over all rows in the best restart, those of its start included.
    n_empty_clusters_ : int
        Number of times a cluster lost its last row in these sweeps: the "empty clusters" of Table 1
        of [1]_.
    converged_ : bool
        Whether the search ended because no move lowered the objective, not at a limit.
    stopped_ : {None, "max_seconds", "callback"}
        What ended the fit early; None if nothing did.
    n_samples_seen_ : int
        Number of rows seen by `fit`, and by `partial_fit` since, and not forgotten.
    moments_ : dict
        Total weight of these rows, and weight, mean and variance of each column's cells, from which
        default priors follow.
    n_features_in_ : int
        D.
    feature_names_in_ : ndarray of str, shape (D,)
        Column names, if `X` was a data frame.

    See Also
    --------
    CollapsedGibbs : How probable other partitions are.
    DPSearch : A search that can prove its answer.
    BayesianHierarchicalClustering : A tree of clusters.
    VariationalDPM : Responsibilities, and a bound on the evidence.
    merge_models : One model of several.

    References
    ----------
    .. [1] Raykov, Boukouvalas & Little, "Simple approximate MAP inference for Dirichlet
       processes", 2014.
    .. [2] Miller & Dunson, "Robust Bayesian inference via coarsening", 2019.
    .. [3] Pitman & Yor, "The two-parameter Poisson-Dirichlet distribution derived from a stable
       subordinator", 1997.
    .. [4] Kish, "Survey Sampling", 1965, section 5.4.

    Examples
    --------
    >>> import numpy as np
    >>> from dpmlite import MAPDPM
    >>> X = np.concatenate([np.random.default_rng(0).normal(c, 1, (50, 2)) for c in (0, 10)])
    >>> MAPDPM(random_state=0).fit(X).n_clusters_
    2
    """

    def __init__(
        self,
        *,
        component: Component | Mapping[Any, str] = "auto",
        alpha: float | AlphaChoice = 1.0,
        prior: Mapping[str, Any] | PriorOrScales | None = "auto",
        discount: float = 0.0,
        robustness: float | Auto | None = "auto",
        join: bool | Auto = "auto",
        max_clusters: int | None = None,
        outlier_level: float | None = None,
        alpha_prior: tuple[float, float] | AlphaPrior = (1.0, 1.0),
        alphas: Sequence[float] | npt.NDArray[Any] | None = None,
        cv: Any = 5,
        allow_missing: bool = False,
        init: Any = "auto",
        order: VisitOrder = "fixed",
        split_merge: bool = True,
        n_init: int = 1,
        max_sweeps: int = 1000,
        memory: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = 1,
        max_seconds: float | None = None,
        callback: Callback | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.component = component
        self.alpha = alpha
        self.prior = prior
        self.discount = discount
        self.robustness = robustness
        self.join = join
        self.max_clusters = max_clusters
        self.outlier_level = outlier_level
        self.alpha_prior = alpha_prior
        self.alphas = alphas
        self.cv = cv
        self.allow_missing = allow_missing
        self.init = init
        self.order = order
        self.split_merge = split_merge
        self.n_init = n_init
        self.max_sweeps = max_sweeps
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.max_seconds = max_seconds
        self.callback = callback
        self.verbose = verbose

    @all_or_nothing
    def fit(self, X: npt.ArrayLike, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the most probable partition of the rows of `X`.

        Parameters
        ----------
        X : array-like or scipy.sparse matrix, shape (N, D)
            Rows: finite numbers; counts for "dirichlet-multinomial"; 0 and 1 for
            "beta-bernoulli". The last two may be sparse: the time of sweeps depends on non-zeros
            only, that of merges on all columns. Arrays of double or single precision are not
            copied, in any memory order, nor are memory-mapped files; all statistics are in double
            precision.
        y : ignored
            There for scikit-learn.
        sample_weight : array-like, shape (N,), optional
            Non-negative numbers. With ``prior="auto"`` they tell how much rows count beside each
            other and, where evidence saturates (see `robustness`), a mean above 1 how sure all rows
            are; no row counts more than one, and weights above five times the mean as much as
            these. With other priors, or a discount, a row of weight w stands
            for w equal rows that share a label, so that distinct rows with their multiplicities, or
            a coreset, can be clustered; in the prior of the labels, eq. (1), the size of a cluster
            is its weight, and weights far below 1 favour small clusters. A row of weight 0 only
            gets a label. The error of joints and densities, in nats, is about 1e-16 times the total
            weight. Weights above 0 are at least 1e-100, and the greatest is at most 1e12 times the
            least.

        Returns
        -------
        MAPDPM
            Itself, fitted.

        Raises
        ------
        ValueError, TypeError
            If `X` or a parameter breaks its rule; the message states it.

        Warns
        -----
        UserWarning
            If a column is constant: the default prior then uses a variance of 1.
        """
        self._check_parameters()
        progress = self._new_progress()
        data = self._read(X).weighted(sample_weight)
        self._fit(data, progress)
        self.__dict__.pop("first_rows_", None)
        self._remember_columns(X, data.n_features)
        self._label_outliers(X)
        self._keep_stop(progress)
        return self

    @all_or_nothing
    def fit_chunks(self, chunks: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the partition of rows that do not fit into memory, chunk by chunk.

        A random sample of 20,000 rows chooses hyperparameters and finds the first components. All
        rows are then swept in their chunks, beside the statistics of all others, while samples
        show what else to divide. Memory does not grow with the number of rows, but for labels.

        Parameters
        ----------
        chunks : array or sequence
            A two-dimensional array, which may be a memory-mapped file and is read by 100,000 rows;
            or a sequence of tables, or of functions without arguments that return one. Each is
            read about thirty times, by `n_jobs` threads at once.
        y : ignored
            There for scikit-learn.
        sample_weight : array-like, shape (N,), or sequence of array-like, optional
            Weights as of `fit`, but above 0, and 0.01 to 5 times their mean with ``prior="auto"``:
            of the rows of an array, or an array for each chunk.

        Returns
        -------
        MAPDPM
            Itself, fitted. `labels_` are those of all chunks, one after the other;
            `neg_log_joint_trace_` has the objective after each round of proposals. There is neither
            `neg_log_loo_` nor `n_empty_clusters_`.

        Raises
        ------
        ValueError, TypeError
            As `fit`; a message about rows names their chunk. Also for labels as `init`, and for
            `outlier_level`.
        """
        engine = MapEngine(weighted_chunks(chunks, sample_weight), load_chunk, on_threads)
        ChunkedFit(self, engine).run()
        labels = np.concatenate([labels for labels in engine.labels if labels is not None])
        self.component_labels_ = labels
        self.labels_ = self._clusters_of(labels)
        return self

    @all_or_nothing
    def partial_fit(self, X: npt.ArrayLike, y: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to those seen before, which need not be kept.

        The exact statistics of a cluster replace its rows, which stay together from then on; whole
        clusters may still merge. New rows join these clusters or form others, and are swept, merged
        and split as in `fit`. The first rows, up to 5,000 or 2 million cells, are kept for a while
        and fitted again as they become more, because partitions of few rows are not final. A call
        after `fit` continues it.

        The objective is that of all rows seen. Its prior is that which `fit` would take for all of
        them: defaults follow the rows seen, and statistics are converted exactly. Values chosen by
        ``alpha="map"``, ``"nll"``, ``"loo"``, ``"cv"`` or ``prior="nll"``, and ``sigma2`` of
        "normal-known-variance", do not change between fits, nor once the first rows are gone.

        With `memory`, "rows seen" are those that are not forgotten: statistics, `counts_` and
        `moments_` are halved together. Batches are best much smaller than `memory`. The first rows
        are kept until something is forgotten, at most.

        Parameters
        ----------
        X : array-like or scipy.sparse matrix, shape (N, D)
            Rows, as of `fit`, best in random order. Labels given as `init` are for the first call.
            In that call every column must have a value, unless `prior` has the keys whose defaults
            depend on it.
        y : ignored
            There for scikit-learn.
        sample_weight : array-like, shape (N,), optional
            As of `fit`.

        Returns
        -------
        MAPDPM
            Itself. `labels_` are those of `X`; `neg_log_joint_trace_`, `n_sweeps_`,
            `n_empty_clusters_` and `converged_` describe the last search; there is no
            `neg_log_loo_` without the rows. Other attributes describe all rows seen.

        Raises
        ------
        ValueError, TypeError
            As `fit`; or if `component`, `allow_missing` or ``sigma2`` are not what they were,
            the weights of all rows seen sum to more than 2**53, or clusters seen before lie too
            far from the prior of all rows.
        """
        self._check_parameters()
        progress = self._new_progress()
        before = FittedClusters.of(self) if hasattr(self, "statistics_") else None
        table = self._read(X) if before is None else self._read_new(X)
        data = table.weighted(sample_weight)
        kept = before if before is None else remembered(before, self.memory)
        first = FirstRows.of(self, data) if kept is before else None
        if first is not None and first.are_due():
            self._fit(first.rows, progress)
            self.labels_ = self.labels_[-data.shape[0] :]
            self.component_labels_ = self.component_labels_[-data.shape[0] :]
            first = first.fitted(self)
        else:
            assert kept is not None  # the rows of the first call are due
            self._learn(kept, data, progress)
        if first is None or first.are_enough() or not isinstance(self.init, str):
            self.__dict__.pop("first_rows_", None)
        else:
            self.first_rows_ = first.to_dict()
        if before is None:
            self._remember_columns(X, data.n_features)
        self._label_outliers(X)
        self._keep_stop(progress)
        return self

    def set_partial_fit_request(self, *, sample_weight: bool | str | None) -> Self:
        """Say whether metadata routing passes `sample_weight` to `partial_fit`.

        Parameters
        ----------
        sample_weight : bool, str or None
            As in `set_fit_request`.

        Returns
        -------
        MAPDPM
            Itself.
        """
        return self._request("partial_fit", sample_weight)
