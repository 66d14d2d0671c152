"""
Units do not matter
===================

Degrees Celsius or Fahrenheit, watts or kilowatts: the clusters should be the same. Those of
k-means are not, for it adds squares of columns. ``MAPDPM`` finds how wide a cluster is in each
column, so there is nothing to scale.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_mutual_info_score

from dpmlite import MAPDPM
from dpmlite.datasets import load_sensors
from dpmlite.plotting import COLOURS

# %%
# Vibration in mm/s, temperature in degrees Celsius and power in watts of a milling machine; and the
# same readings in degrees Fahrenheit and kilowatts.

metric, states, columns = load_sensors()
other = metric * [1.0, 1.8, 0.001] + [0.0, 32.0, 0.0]

# %%
# k-means, told that there are six states, finds other clusters in other units. The labels of
# ``MAPDPM`` are the same, row by row.

kmeans = [KMeans(6, n_init=10, random_state=0).fit_predict(X) for X in (metric, other)]
mapdpm = [MAPDPM(random_state=0).fit_predict(X) for X in (metric, other)]
print("KMeans: agreement of both", round(adjusted_mutual_info_score(*kmeans), 3))
print("MAPDPM: equal labels?", np.array_equal(*mapdpm))

# %%
# In watts, the power decides all that k-means does: it divides the rows by power alone, and the
# twelve rows of the worn bearing are not found.


def draw(axes, labels, title):
    """Vibration and power, in the colours of the labels."""
    agreement = adjusted_mutual_info_score(states, labels)
    colours = np.array(COLOURS)[labels % len(COLOURS)]
    axes.scatter(metric[:, 0], metric[:, 2], s=6, c=colours, linewidths=0)
    axes.set_title(f"{title}: AMI {agreement:.2f}", fontsize=10)


figure, panels = plt.subplots(
    2, 2, figsize=(8.4, 6.0), sharex=True, sharey=True, layout="constrained"
)
for row, (name, found) in zip(
    panels, {"KMeans(6)": kmeans, "MAPDPM()": mapdpm}.items(), strict=True
):
    for axes, labels, units in zip(row, found, ("°C, W", "°F, kW"), strict=True):
        draw(axes, labels, f"{name}, {units}")
figure.supxlabel("vibration, mm/s", fontsize=10)
figure.supylabel("power, W", fontsize=10)

# %%
# A ``StandardScaler`` makes k-means independent of units, too. But it divides by the spread of the
# whole table, which is not how wide a cluster is. ``MAPDPM`` needs none, and one before it changes
# nothing: :doc:`/guide/scikit-learn`.
