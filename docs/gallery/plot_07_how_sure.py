"""
How sure is K?
==============

The most probable partition is one answer. How probable are the others? For up to 13 rows all
partitions can be summed, exactly; for more rows ``CollapsedGibbs`` draws from the posterior. Here
are both on the same rows.
"""

import matplotlib.pyplot as plt
import numpy as np

from dpmlite import CollapsedGibbs, exact_posterior
from dpmlite.plotting import COLOURS, plot_co_clustering

# %%
# Eleven rows in one column, with two gaps, one of which may be none.

X = np.array([[-3.2], [-3.0], [-2.9], [-2.7], [0.1], [0.3], [0.4], [0.6], [1.5], [1.7], [1.8]])
prior = {"m0": 0.0, "c0": 0.05, "a0": 2.0, "b0": 0.1}

exact = exact_posterior(X, alpha=1.0, prior=prior)
print("most probable partition", exact.labels.tolist())

# %%
# The chain has the same model, and never sees that result.

chain = CollapsedGibbs(
    component="normal-gamma", prior=prior, alpha=1.0, n_samples=20_000, random_state=0
).fit(X)
ks = np.arange(1, 8)
p_exact, p_sampled = exact.n_clusters_proba[ks - 1], chain.n_clusters_proba_[ks]
for k, one, other in zip(ks, p_exact, p_sampled, strict=True):
    print(f"{k} clusters: exact {one:.3f}, sampled {other:.3f}")

# %%
# Three clusters are the most probable number, and four are nearly as probable: no single answer
# tells that.

figure, axes = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
axes.bar(ks - 0.2, p_exact, 0.4, color=COLOURS[0], label="exact")
axes.bar(ks + 0.2, p_sampled, 0.4, color=COLOURS[1], label="20,000 samples")
axes.set(xlabel="clusters", ylabel="probability", xticks=ks)
axes.legend(frameon=False)

# %%
# Which rows belong together? Each element is the probability that two rows share a cluster; the
# clusters are those of the most probable partition. The first is one for sure. The second may be
# two.

figure, panels = plt.subplots(1, 2, figsize=(8.0, 3.2), layout="constrained")
plot_co_clustering(exact, ax=panels[0])
plot_co_clustering(chain, ax=panels[1])
panels[0].set_title("exact")
panels[1].set_title("sampled")
print("largest difference", f"{abs(exact.co_clustering - chain.co_clustering()).max():.3f}")

# %%
# .. seealso:: :doc:`/guide/posterior`
