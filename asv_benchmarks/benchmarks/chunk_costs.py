"""Times of `DaskMAPDPM` on many rows and workers, predicted from those of small fits.

By hand, `python asv_benchmarks/benchmarks/chunk_costs.py` fits small tables on two workers. A fit
of N rows in P chunks on W workers, of S steps, is taken to need

    a worker:    S (P a + N b) / W
    the driver:  d + S P c

Small fits tell S, and least squares a, b, c and d. The script prints what that predicts for two
workers, and for a billion rows of 50 columns on 100 workers. `--run 1000000` also fits so many rows
on two workers and prints what they took. The rows are those of the small fits' mixture.

All is time of the processor, so that other programs hardly matter. On processors of their own, a
fit lasts about as long as driver and one worker together.
"""

import argparse
import time
from contextlib import contextmanager

import numpy as np

from dpmlite.datasets import unequal_gaussians
from dpmlite.distributed import descent

# Rows and chunks of small fits, each of some samples.
SMALL = ((40_000, 2), (40_000, 10), (400_000, 2))
N_SAMPLES = 2

CHUNKS = {10**6: 8, 10**7: 50, 10**9: 1000}


@contextmanager
def client_of(n_workers):
    """The client of some workers of one thread each; the scheduler is in this process."""
    from distributed import Client, LocalCluster

    options = {"threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(n_workers=n_workers, **options) as cluster, Client(cluster) as client:
        yield client


def busy(client):
    """Seconds of the driver so far, and of all workers together."""
    on_workers = client.run(time.process_time).values()
    return np.array([time.process_time(), sum(on_workers)])


def drawn(mixture, n_rows, n_chunks, first_seed):
    """A Dask array of rows of a mixture."""
    import dask.array as da
    from dask import delayed

    def chunk(seed):
        return mixture.sample(n_rows // n_chunks, random_state=seed)[0]

    seeds, shape = range(first_seed, first_seed + n_chunks), (n_rows // n_chunks, mixture.n_columns)
    return da.concatenate([da.from_delayed(delayed(chunk)(seed), shape, float) for seed in seeds])


def fit(client, mixture, n_rows, n_chunks, seed=0):
    """Steps of a fit, and the seconds of driver and workers; rows are in memory before."""
    from distributed import wait

    from dpmlite.dask import DaskMAPDPM

    rows = client.persist(drawn(mixture, n_rows, n_chunks, 1000 * seed))
    wait(rows)
    n_steps, before = StepCounter(), busy(client)
    with n_steps:
        DaskMAPDPM(random_state=seed, client=client).fit(rows)
    return n_steps.n, busy(client) - before


class StepCounter:
    """Counts the steps that engines of Dask run in a block."""

    def __enter__(self):
        from dpmlite.dask.engine import DaskEngine

        self.n, self.engine, self.run = 0, DaskEngine, DaskEngine.run

        def counted_run(engine, step, messages):
            self.n += 1
            return self.run(engine, step, messages)

        DaskEngine.run = counted_run
        return self

    def __exit__(self, *error):
        self.engine.run = self.run


class Costs:
    """Costs of fits of one mixture.

    Attributes
    ----------
    n_steps : float
        Steps of a fit.
    chunk, row : float
        Seconds of the workers for a chunk and for a row in each step, a and b.
    fixed, driver_chunk : float
        Seconds of the driver for a fit, and for a chunk in each step, d and c.
    """

    def __init__(self, mixture, small=SMALL):
        with client_of(2) as client:
            fit(client, mixture, *small[0])  # imports
            found = [fit(client, mixture, *size, j) for j in range(N_SAMPLES) for size in small]
        sizes = np.tile(np.array(small, dtype=float), (N_SAMPLES, 1))
        n_steps = np.array([n for n, _ in found])
        driver, worker = np.array([seconds for _, seconds in found]).T
        n_rows, n_chunks = sizes.T * n_steps
        self.n_steps = n_steps.mean()
        self.chunk, self.row = solved(worker, n_chunks, n_rows)
        self.fixed, self.driver_chunk = solved(driver, np.ones(len(found)), n_chunks)

    def of(self, n_rows, n_workers):
        """Seconds of the driver, and of one worker."""
        n_chunks = CHUNKS[n_rows]
        driver = self.fixed + self.n_steps * n_chunks * self.driver_chunk
        worker = self.n_steps * (n_chunks * self.chunk + n_rows * self.row) / n_workers
        return driver, worker


def solved(seconds, *terms):
    """The coefficients of some terms that explain seconds, by least squares of relative errors."""
    design = np.column_stack(terms) / seconds[:, None]
    return np.linalg.lstsq(design, np.ones(len(seconds)), rcond=None)[0]


def print_line(about, n_steps, driver, worker):
    """Print the seconds of a fit."""
    print(
        f"{about}: {n_steps:4.0f} steps, driver {driver:5.1f} s, a worker {worker:5.1f} s, "
        f"together {driver + worker:5.1f} s",
        flush=True,
    )


def print_predictions(runs):
    """Print what is predicted, and beside it what some fits take."""
    mixture = unequal_gaussians(8, 20, random_state=0)
    costs = Costs(mixture)
    for n_rows in (10**6, 10**7):
        about = f"{n_rows:>13,} x  8,   2 workers"
        print_line(f"{about}, predicted", costs.n_steps, *costs.of(n_rows, 2))
        if n_rows in runs:
            with client_of(2) as client:
                fit(client, mixture, *SMALL[0])
                n_steps, (driver, workers) = fit(client, mixture, n_rows, CHUNKS[n_rows], seed=9)
            print_line(f"{about}, measured ", n_steps, driver, workers / 2)
    wide = Costs(unequal_gaussians(50, 100, random_state=0))
    about = f"{10**9:>13,} x 50, 100 workers"
    print_line(f"{about}, predicted", wide.n_steps, *wide.of(10**9, 100))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--run", type=int, nargs="*", default=[], choices=[10**6, 10**7])
    descent.MAX_CELLS = 0  # tables of more cells than this have no restarts
    print_predictions(parser.parse_args().run)
