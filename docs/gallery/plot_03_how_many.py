"""
How many clusters?
==================

Three things decide it: how wide a cluster is expected to be (the prior), how much evidence more
rows are (the robustness), and whether components that touch are one cluster (the tree). Here is
one table, and what each of them does to it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from dpmlite import MAPDPM
from dpmlite.datasets import planted_gaussians
from dpmlite.plotting import COLOURS

# %%
# Eight small round clusters, two of which overlap, above two half circles.

balls, _ = planted_gaussians(900, 2, 8, separation=9.0, random_state=3)
moons, _ = make_moons(900, noise=0.08, random_state=0)
X = np.concatenate([balls * 0.03 + [0.5, 2.0], moons])


def draw(axes, labels, title):
    """Rows in the colours of their labels."""
    axes.scatter(*X.T, s=3, c=labels, cmap="tab20", vmin=0, vmax=19, linewidths=0)
    axes.set_title(title, fontsize=10)
    axes.set(xticks=[], yticks=[])


# %%
# **The prior.** The paper's prior expects clusters about as wide as the table: small ones that are
# neighbours become one. By default the joint probability chooses the width.

paper = MAPDPM(prior="paper", random_state=0).fit(X)
model = MAPDPM(random_state=0).fit(X)

figure, panels = plt.subplots(1, 2, figsize=(8.4, 3.8), layout="constrained")
draw(panels[0], paper.labels_, f'prior="paper": {paper.n_clusters_} clusters')
draw(panels[1], model.labels_, f"default: {model.n_clusters_} clusters")

# %%
# **The robustness.** No model is exactly true, and with enough rows every misfit is certain. If
# each row counted whole, ever more rows would buy ever more components: here those of one skewed
# cluster. So evidence saturates.

sizes = (300, 1000, 3000, 10_000)
skewed = np.random.default_rng(1).lognormal(size=(10_000, 2))
curves = {"each row counts whole": None, "evidence saturates (default)": "auto"}
figure, axes = plt.subplots(figsize=(6.0, 3.2), layout="constrained")
for colour, (name, robustness) in zip(COLOURS, curves.items(), strict=False):
    normals = MAPDPM(component="normal-gamma", robustness=robustness, join=False, random_state=0)
    counts = [normals.fit(skewed[:n]).n_clusters_ for n in sizes]
    axes.plot(sizes, counts, "o-", color=colour, label=name)
axes.set(xscale="log", xlabel="rows of one lognormal cluster", ylabel="components", ylim=(0, None))
axes.yaxis.get_major_locator().set_params(integer=True)
axes.legend(frameon=False)

# %%
# **The tree.** A half circle takes several normal components. Those that no valley in the density
# separates are one cluster. ``labels_at`` cuts the tree at any depth of the valleys, in nats.

depths = (0.0, 0.55, 2.0)
figure, panels = plt.subplots(1, 3, figsize=(9.6, 3.2), layout="constrained")
for axes, depth in zip(panels, depths, strict=True):
    labels = model.labels_at(depth=depth)
    draw(axes, labels, f"valleys from {depth} nats: {labels.max() + 1}")

# %%
# The middle picture is the default. If you know how many clusters you want at most, say so:

print(MAPDPM(max_clusters=4, random_state=0).fit(X).n_clusters_)

# %%
# .. seealso:: :doc:`/guide/number-of-clusters`, with outliers, ties, and what no method can know.
