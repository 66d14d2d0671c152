"""Rows in chunks: how near `fit_chunks` and `DaskMAPDPM` come to `fit`, and their price.

By hand, `python asv_benchmarks/benchmarks/chunks.py` prints a line for each table, number of
chunks and order of the rows: the joint less the least and the greatest of some seeds of `fit` under
the same hyperparameters, in percent; components, and those of `fit`; and the processor's time in
times of a `fit` of the same family. Tables are of 8 columns and have overlapping clusters of very
unequal sizes and widths.

- `--rows`, `--clusters`, `--tables`, `--prior`, `--seeds` and `--chunks` choose what is compared.
- `--dask` prints times of `DaskMAPDPM` with 1 and 2 workers instead, of one thread each.
- `--file` prints time and peak memory of `fit_chunks` of a file.
- `--arithmetic` prints bytes and seconds of a round on 10^9 rows of 50 columns, 100 clusters, 1,000
  chunks and 100 workers: sizes are exact, and seconds are from costs that it measures on a few
  chunks.
"""

import argparse
import resource
import tempfile
import time
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from dpmlite import MAPDPM
from dpmlite.datasets import unequal_gaussians
from dpmlite.distributed.attempts import SWEEPS_AT_ONCE
from dpmlite.distributed.chunked_partition import ChunkedPartition
from dpmlite.distributed.engine import MapEngine
from dpmlite.distributed.proposals import GATHERED_ROWS
from dpmlite.distributed.statistics import all_others, loaded, statistics_of, total
from dpmlite.distributed.steps import Mixture, Sweep, sweep
from dpmlite.estimators.default_model.model import Model
from dpmlite.estimators.map_dpm.chunk_tables import ChunkReader
from dpmlite.estimators.priors import FAMILIES

N_COLUMNS = 8
ROWS_AT_ONCE = 100_000


def table(n_rows, n_clusters, seed=0):
    """Overlapping clusters of very unequal sizes and widths."""
    mixture = unequal_gaussians(N_COLUMNS, n_clusters, random_state=seed)
    return mixture.sample(n_rows, random_state=seed)[0]


def timed(function, clock=time.perf_counter):
    """What a call returns, and its seconds."""
    begin = clock()
    return function(), clock() - begin


def local_fit(like, prior, X, seed):
    """A fit of all rows under the hyperparameters of another model."""
    robustness = 2000 if prior == "auto" else None
    same = {"component": like.component_, "prior": like.prior_, "robustness": robustness}
    return MAPDPM(join=False, random_state=seed, **same).fit(X)


def print_table(n_rows, n_clusters, seed, prior, n_seeds, chunks):
    """Joints, components and times of one table."""
    X = table(n_rows, n_clusters, seed)
    orders = {"random": np.arange(n_rows), "sorted": np.argsort(X[:, 0])}
    about = f"{n_rows:>10,} {n_clusters:>3} {seed} {prior:>6}"
    fits = LocalFits(prior, X, n_seeds)
    n_components, seconds = fits.alone("auto")
    print(f"{about} fit: K {n_components}, {seconds:.1f} s", flush=True)
    for n_chunks in chunks:
        for order, at in orders.items():
            parts, estimator = np.array_split(X[at], n_chunks), MAPDPM(prior=prior, random_state=0)
            model, seconds = timed(partial(estimator.fit_chunks, parts), time.process_time)
            joints, components = fits.under(model)
            whole = fits.alone(model.component_)[1]
            above = 100.0 * (model.neg_log_joint_ / joints - 1.0)
            print(
                f"{about} {n_chunks:>3} {order}: {above.max():>7.4f} to {above.min():>7.4f} %, "
                f"K {len(model.statistics_)} of {min(components)} to {max(components)}, "
                f"time {seconds / whole:.1f}, {model.n_sweeps_} sweeps",
                flush=True,
            )


class LocalFits:
    """Joints and components of some seeds of `fit`, for each model whose prior they share."""

    def __init__(self, prior, X, n_seeds):
        self.prior, self.X, self.n_seeds = prior, X, n_seeds
        self.found, self.fits_alone = {}, {}

    def alone(self, component):
        """Components, and seconds of the processor, of a `fit` that is told the family."""
        if component not in self.fits_alone:
            estimator = MAPDPM(component=component, prior=self.prior, random_state=0)
            model, seconds = timed(partial(estimator.fit, self.X), time.process_time)
            self.fits_alone[component] = len(model.statistics_), seconds
        return self.fits_alone[component]

    def under(self, like):
        key = str(like.prior_)
        if key not in self.found:
            fits = [local_fit(like, self.prior, self.X, seed) for seed in range(self.n_seeds)]
            joints = np.array([fit.neg_log_joint_ for fit in fits])
            self.found[key] = joints, [len(fit.statistics_) for fit in fits]
        return self.found[key]


def drawn_chunk(n_rows, number):
    """Rows of a chunk that no driver has seen."""
    mixture = unequal_gaussians(N_COLUMNS, 20, random_state=0)
    return mixture.sample(n_rows, random_state=number)[0]


def peak_memory():
    """The greatest memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def busy(client):
    """Seconds of the processor so far: the driver's, which has the scheduler, and each worker's."""
    return np.array([time.process_time(), *client.run(time.process_time).values()])


def dask_fit(X, prior, n_workers):
    """Labels on some workers, and seconds of the clock and of the processor.

    Rows are in memory before. The processor's seconds are those of the driver and of the busiest
    worker together: on processors of their own, a fit would last about as long.
    """
    from distributed import Client, LocalCluster, wait

    from dpmlite.dask import DaskMAPDPM

    cluster = LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0")
    with cluster, Client(cluster) as client:
        rows = client.persist(X)
        wait(rows)
        model = DaskMAPDPM(prior=prior, random_state=0, client=client)
        before = busy(client)
        _, seconds = timed(partial(model.fit, rows))
        driver, *workers = busy(client) - before
        print(
            f"{len(X):,} x {N_COLUMNS} in {X.numblocks[0]} chunks, {prior}, {n_workers} worker(s): "
            f"{seconds:.1f} s; processor: driver {driver:.1f} s, busiest worker "
            f"{max(workers):.1f} s; K {len(model.statistics_)}, {model.n_sweeps_} sweeps, "
            f"peak of the driver {peak_memory():.0f} MB",
            flush=True,
        )
        return model.labels_.compute(), np.array([seconds, driver + max(workers)])


def print_dask(n_rows, prior, n_chunks):
    """Times with 1 and 2 workers, and whether their labels are the same."""
    import dask.array as da
    from dask import delayed

    size = n_rows // n_chunks
    pieces = [delayed(drawn_chunk)(size, number) for number in range(n_chunks)]
    X = da.concatenate([da.from_delayed(each, (size, N_COLUMNS), float) for each in pieces])
    (one, alone), (two, together) = (dask_fit(X, prior, n_workers) for n_workers in (1, 2))
    same = "the same" if (one == two).all() else "other"
    clock, processor = together / alone
    print(
        f"two workers take {clock:.2f} of the time of one by the clock, {processor:.2f} by the "
        f"processor, and find {same} labels"
    )


def read_rows(path, first):
    """Some rows of a file."""
    offset, n_cells = first * N_COLUMNS * 8, ROWS_AT_ONCE * N_COLUMNS
    return np.fromfile(path, count=n_cells, offset=offset).reshape(-1, N_COLUMNS)


def print_file(n_rows, prior):
    """Time and peak memory of a fit whose rows are in a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows"
        with path.open("wb") as file:
            for number in range(n_rows // ROWS_AT_ONCE):
                drawn_chunk(ROWS_AT_ONCE, number).tofile(file)
        before = peak_memory()
        chunks = [partial(read_rows, path, first) for first in range(0, n_rows, ROWS_AT_ONCE)]
        model, seconds = timed(partial(MAPDPM(prior=prior, random_state=0).fit_chunks, chunks))
    print(
        f"{n_rows:,} x {N_COLUMNS}, a file of {n_rows * N_COLUMNS * 8 / 2**20:.0f} MB, {prior}: "
        f"{seconds:.1f} s, K {len(model.statistics_)}, {model.n_sweeps_} sweeps, peak "
        f"{peak_memory():.0f} MB ({before:.0f} MB before), labels {8 * n_rows / 2**20:.0f} MB"
    )


def drawn_partition(n_chunks, n_rows, n_columns, n_clusters):
    """A partition of chunks whose rows are near their clusters, and its model."""
    rng = np.random.default_rng(0)
    centres = rng.normal(0.0, 6.0, (n_clusters, n_columns))
    labels = rng.integers(n_clusters, size=n_chunks * n_rows)
    labels[:n_clusters] = np.arange(n_clusters)
    X = centres[labels] + rng.normal(size=(len(labels), n_columns))
    family = FAMILIES["normal-gamma"]
    reader = ChunkReader(family, False, n_columns, {})
    table = reader(X)
    model = Model(family, False, family.prior(None, table), 1.0, has_missing=False)
    engine = MapEngine(np.array_split(X, n_chunks))
    engine.read(reader)
    good = model.problem(table).partition(labels.astype(np.intp))
    mixture = Mixture.of(model, good.component, n_clusters)
    return ChunkedPartition(engine, model, mixture, table, np.full(n_chunks, n_rows))


def messages_of(function, statistics):
    """What a function makes of the statistics of chunks, as arrays."""
    return [statistics_of(slots, slots.n_slots) for slots in function(statistics)]


def added(component, replies):
    """The sum of the statistics that chunks reply with."""
    return total([loaded(component, reply) for reply in replies])


def print_arithmetic(
    n_rows=10**9, n_columns=50, n_clusters=100, n_chunks=1000, n_workers=100, few=8
):
    """Bytes and seconds of a round on many workers, from costs on a few chunks."""
    partition = drawn_partition(few, 10_000, n_columns, n_clusters)
    busy = time.process_time  # others may be at work here
    statistics, model = partition.clusters.statistics, partition.model
    others, adding = timed(partial(messages_of, all_others, statistics), busy)
    request = Sweep(model, partition.clusters.numbers[0], others[0], SWEEPS_AT_ONCE)
    table = ChunkReader(model.family, False, n_columns, {})(partition.engine.chunks[0])
    labels = partition.engine.labels[0]
    _, sweeping = timed(partial(sweep, table, labels, request), busy)
    _, summing = timed(partial(added, partition.component, others), busy)
    width = others[0].shape[1]
    message = 8 * n_clusters * width
    driver = (adding + summing) / few * n_chunks
    print(f"{width} numbers a cluster, {message / 1e3:.0f} kB a chunk and direction")
    print(f"sweep: {2 * n_chunks * message / 1e6:.0f} MB through the driver")
    print(f"       {sweeping / len(table.values) * n_rows / n_workers:.0f} s on the workers")
    print(f"       {driver:.1f} s on the driver")
    group = 8 * GATHERED_ROWS * n_columns
    n_groups = 1 + n_clusters + 1  # all together, each alone, and the rows that fit worst
    print(f"proposals: {n_groups} groups of {group / 1e6:.0f} MB, {n_groups * group / 1e6:.0f} MB")


class Chunks:
    """A fit of 50,000 rows in 8 chunks."""

    def setup(self):
        self.parts = np.array_split(table(50_000, 20), 8)

    def time_fit_chunks(self):
        MAPDPM(random_state=0).fit_chunks(self.parts)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[200_000, 1_000_000])
    parser.add_argument("--clusters", type=int, nargs="+", default=[20])
    parser.add_argument("--tables", type=int, default=1, help="seeds of tables (default: 1)")
    parser.add_argument("--prior", nargs="+", default=["auto", "paper"])
    parser.add_argument("--seeds", type=int, default=3, help="of fit (default: 3)")
    parser.add_argument("--chunks", type=int, nargs="+", default=[2, 8, 64])
    parser.add_argument("--dask", action="store_true")
    parser.add_argument("--file", action="store_true")
    parser.add_argument("--arithmetic", action="store_true")
    chosen = parser.parse_args()
    if chosen.arithmetic:
        print_arithmetic()
        parser.exit()
    for n_rows in chosen.rows:
        for prior in chosen.prior:
            if chosen.dask:
                print_dask(n_rows, prior, chosen.chunks[0])
            elif chosen.file:
                print_file(n_rows, prior)
            else:
                for n_clusters, seed in product(chosen.clusters, range(chosen.tables)):
                    print_table(n_rows, n_clusters, seed, prior, chosen.seeds, chosen.chunks)
