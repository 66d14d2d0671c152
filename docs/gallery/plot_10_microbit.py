"""
From laptop to micro:bit
========================

A model that was fitted on a laptop goes on working on a micro-controller, in integers of 30 bits,
without a single float. Board and laptop find the same labels. Here the board's own module runs on
the laptop: it is plain Python.
"""

import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import dpmlite
from dpmlite.datasets import load_sensors, machine_states
from dpmlite.plotting import COLOURS

# %%
# Readings become integers, each column by its own scale; the model is fitted to these.

X, states, columns = load_sensors()
q = dpmlite.quantize(X)
model = dpmlite.MAPDPM(prior={"c0": 1.0}, random_state=0).fit(q.rows)
print(model.n_clusters_, "clusters; the first reading", X[0], "is", q.rows[0].tolist())

# %%
# ``to_micropython`` writes a module for the board, with the sums of each cluster.

folder = Path(tempfile.mkdtemp())
dpmlite.to_micropython(model, folder / "sensors.py", quantized=q)
text = (folder / "sensors.py").read_text()
print(len(text), "bytes, which begin")
print(text[:600])

# %%
# The board imports it, beside the learner, ``mapdpm_int.py`` of the folder ``micropython/``.

checkout = next(parent for parent in Path.cwd().parents if (parent / "micropython").is_dir())
sys.path[:0] = [str(folder), str(checkout / "micropython")]
import sensors

board = sensors.model()
reading = (1.09, 55.2, 1257.0)
print("the board's label", board.predict(sensors.quantize(reading)))
print("the laptop's label", model.predict(q.apply([reading]))[0])

# %%
# New readings of the same machine, by both.

new, _, _ = machine_states(random_state=5)
on_board = np.array([board.predict(sensors.quantize(row.tolist())) for row in new])
on_laptop = model.predict(q.apply(new))
print("equal labels:", np.count_nonzero(on_board == on_laptop), "of", len(new))

figure, panels = plt.subplots(1, 2, figsize=(8.4, 3.6), sharey=True, layout="constrained")
for axes, labels, name in zip(panels, (on_laptop, on_board), ("laptop", "board"), strict=True):
    axes.scatter(new[:, 1], new[:, 2], s=6, c=np.array(COLOURS)[labels], linewidths=0)
    axes.set(title=name, xlabel="temperature, °C")
panels[0].set_ylabel("power, W")

# %%
# And the board goes on learning. ``surprise`` says how unusual a reading is, as ``score_samples``
# does, and ``learn`` adds it.

print("surprise of a usual reading ", board.surprise(sensors.quantize(reading)))
print("surprise of an unusual one  ", board.surprise(sensors.quantize((12.0, 90.0, 300.0))))
board.learn(sensors.quantize(reading))
print("rows that the board has seen", sum(board.counts))

# %%
# .. seealso:: :doc:`/guide/boards`, and :doc:`/generated/project/micropython/README` for flashing,
#    memory and time on each board.
