"""MAPDPM as people call it: its time, its memory and the quality of what it finds."""

import functools
import itertools
import subprocess
import sys
import time

from dpmlite import MAPDPM

from .common import paper_table, planted_table

TABLES = {
    "section 4.1, 600 x 2": paper_table,
    "10 clusters, 2000 x 2": functools.partial(planted_table, 2_000, 2, 10),
    "10 clusters, 2000 x 8": functools.partial(planted_table, 2_000, 8, 10),
    "20 clusters, 10000 x 8": functools.partial(planted_table, 10_000, 8, 20),
}


@functools.cache
def fitted(table):
    """A fitted model; `setup` runs before each sample, the fit only once a process."""
    return MAPDPM(prior="paper", random_state=0).fit(TABLES[table]()[0])


class Fit:
    """Each runs in an interpreter of its own (`launch_method`): memory counts no other imports."""

    params = (tuple(TABLES),)
    param_names = ("table",)

    def setup(self, table):
        self.X, _ = TABLES[table]()

    def time_fit(self, table):
        MAPDPM(prior="paper", random_state=0).fit(self.X)

    def peakmem_fit(self, table):
        MAPDPM(prior="paper", random_state=0).fit(self.X)


class Quality:
    """What does not depend on the machine: a step in these is a change of the algorithm."""

    params = (tuple(TABLES),)
    param_names = ("table",)

    def track_neg_log_joint(self, table):
        return fitted(table).neg_log_joint_

    def track_n_clusters(self, table):
        return fitted(table).n_clusters_

    def track_ami(self, table):
        from sklearn.metrics import adjusted_mutual_info_score  # not in the memory of a fit

        return float(adjusted_mutual_info_score(TABLES[table]()[1], fitted(table).labels_))

    track_neg_log_joint.unit = "nats"
    track_n_clusters.unit = "clusters"
    track_ami.unit = "adjusted mutual information"


class Predict:
    params = (tuple(TABLES),)
    param_names = ("table",)

    def setup(self, table):
        self.X, _ = TABLES[table]()
        self.model = fitted(table)

    def time_predict(self, table):
        self.model.predict(self.X)

    def time_score_samples(self, table):
        self.model.score_samples(self.X)


def import_seconds(name):
    """The least time of an import in a fresh interpreter, of ten."""
    command = [sys.executable, "-c", f"import {name}"]
    starts = [time.perf_counter()]
    for _ in range(10):
        subprocess.run(command, check=True)
        starts.append(time.perf_counter())
    return min(later - sooner for sooner, later in itertools.pairwise(starts))


def track_import_above_numpy():
    """What `import dpmlite` adds to `import numpy`."""
    return 1000.0 * (import_seconds("numpy, dpmlite") - import_seconds("numpy"))


track_import_above_numpy.unit = "ms"
