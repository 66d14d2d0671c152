"""
A million rows in a second
==========================

A fit takes about as long as k-means needs for one given K, and often less. This page was made on
the machine whose times it shows.
"""

import os
import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_mutual_info_score

from dpmlite import MAPDPM
from dpmlite.datasets import planted_gaussians
from dpmlite.plotting import COLOURS

# %%
# A hundred clusters in eight columns. ``n_jobs=-1`` takes all processors; labels do not depend on
# it. ``prior="paper"`` is the paper's model. The default also chooses family and hyperparameters,
# and joins components.

N_ROWS = (10_000, 100_000, 1_000_000)
models = {
    'prior="paper"': MAPDPM(prior="paper", n_jobs=-1, random_state=0),
    "default": MAPDPM(n_jobs=-1, random_state=0),
}
seconds = {name: [] for name in models}
print(f"{os.cpu_count()} processors")
for n in N_ROWS:
    X, drawn = planted_gaussians(n, 8, 100, separation=5.0, random_state=0)
    for name, model in models.items():
        start = time.perf_counter()
        model.fit(X)
        seconds[name].append(time.perf_counter() - start)
        some = slice(20_000)  # the agreement of so many rows is enough
        agreement = adjusted_mutual_info_score(drawn[some], model.labels_[some])
        print(
            f"{n:9,} rows, {name:13} {seconds[name][-1]:6.2f} s, {model.n_clusters_} clusters,"
            f" agreement {agreement:.3f}"
        )

# %%
# Time grows with the number of rows, and not faster.

figure, axes = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
for colour, (name, taken) in zip(COLOURS, seconds.items(), strict=False):
    axes.plot(N_ROWS, taken, "o-", color=colour, label=name)
axes.set(xscale="log", yscale="log", xlabel="rows", ylabel="seconds")
axes.set_xticks(N_ROWS, [f"{n:,}" for n in N_ROWS])
axes.set_yticks([0.1, 0.3, 1, 3, 10], ["0.1", "0.3", "1", "3", "10"])
axes.minorticks_off()
axes.legend(frameon=False)

# %%
# New rows are labelled faster still, for bounds rule out most clusters.

start = time.perf_counter()
labels = models["default"].predict(X)
rate = len(X) / (time.perf_counter() - start)
same = np.mean(labels == models["default"].labels_)
print(f"{rate / 1e6:.1f} million rows a second; {same:.4f} of the labels as in the fit")

# %%
# .. seealso:: :doc:`/benchmarks` has the times beside other programs, and the tables where
#    ``MAPDPM`` is slower than they are. :doc:`/guide/streams` is for more rows than fit in memory.
