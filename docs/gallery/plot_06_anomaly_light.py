"""
An anomaly light for a machine
==============================

Three shifts of sensor readings arrive batch by batch, and nobody says what is normal. The model
learns from each batch and forgets its rows. Then it watches: a light is green, yellow or red by the
share of rows drawn from the model that are less probable than the reading.
"""

import matplotlib.pyplot as plt
import numpy as np

from dpmlite import MAPDPM
from dpmlite.datasets import machine_states

# %%
# Learn from three shifts, in which no bearing was worn.

model = MAPDPM(random_state=0)
for shift in (1, 2, 3):
    readings, states, columns = machine_states(random_state=shift)
    healthy = readings[states != "worn bearing"]
    for start in range(0, len(healthy), 100):
        model.partial_fit(healthy[start : start + 100])
print(model.n_samples_seen_, "readings,", model.n_clusters_, "states of the machine")

# %%
# Watch a fourth shift. Its last 60 readings have the worn bearing among them.

readings, states, columns = machine_states(random_state=4)
worn = states == "worn bearing"
order = np.concatenate([np.flatnonzero(~worn)[:188], np.flatnonzero(worn)])
order[128:] = np.random.default_rng(0).permutation(order[128:])
live, is_worn = readings[order], worn[order]

surprise = -model.score_samples(live)  # nats
score = model.outlier_score(live)  # share of drawn rows that are less probable
light = np.where(score < 0.001, "red", np.where(score < 0.01, "yellow", "green"))

for colour in ("green", "yellow", "red"):
    shown = light == colour
    print(f"{colour:6} {shown.sum():4} readings, {(shown & is_worn).sum()} of the worn bearing")

# %%
# Every reading of the worn bearing turns the light red. Of a healthy machine, about one reading in
# a hundred turns it yellow: that is what a level of 0.01 means, and nothing had to be tuned.

hues = {"green": "#009E73", "yellow": "#E6B800", "red": "#C8102E"}
figure, axes = plt.subplots(figsize=(9.0, 3.4), layout="constrained")
for colour, hue in hues.items():
    at = np.flatnonzero(light == colour)
    axes.scatter(at, surprise[at], s=14, color=hue, label=colour)
ring = {"s": 70, "facecolors": "none", "edgecolors": "black"}
axes.scatter(np.flatnonzero(is_worn), surprise[is_worn], label="worn bearing", **ring)
axes.set(xlabel="reading", ylabel="minus log density, nats")
axes.legend(frameon=False, ncols=4, loc="upper left")
axes.set_ylim(top=surprise.max() + 8)  # room for the legend

# %%
# Which column is it? The reading is compared with the cluster that it is nearest to.

reading = live[is_worn][0]
near = int(np.argmin((((reading - model.means_) ** 2) / model.variances_).sum(axis=1)))
z = (reading - model.means_[near]) / np.sqrt(model.variances_[near])
for name, value, deviations in zip(columns, reading, z, strict=True):
    print(f"{name:12} {value:8.2f}  {deviations:+5.1f} standard deviations")

# %%
# Once an engineer has seen it, it may be learned as a state of its own: the light is green then,
# and the label tells.

model.partial_fit(live[is_worn])
print(model.n_clusters_, "states; the worn bearing is", np.unique(model.predict(live[is_worn])))

# %%
# .. seealso:: :doc:`/guide/streams`, and :doc:`plot_10_microbit` for a light on a board.
