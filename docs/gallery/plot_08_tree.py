"""
A tree and its bound
====================

Bayesian hierarchical clustering joins two branches at a time: those whose rows are most probably
one cluster. The tree is cut where that probability falls below one half, so it has a number of
clusters, too. And it bounds the evidence from below: the probability of the rows, summed over all
partitions.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from dpmlite import BayesianHierarchicalClustering, exact_posterior
from dpmlite.plotting import COLOURS, plot_dendrogram

# %%
# The flowers of iris, of three species.

iris = load_iris()
X, species = iris.data, iris.target
tree = BayesianHierarchicalClustering(random_state=0).fit(X)
for k in range(tree.n_clusters_):
    found = np.bincount(species[tree.labels_ == k], minlength=3)
    names = iris.target_names.tolist()
    print(f"cluster {k}:", dict(zip(names, found.tolist(), strict=True)))

# %%
# A merge is as high as the log odds against its being one cluster. Setosa is apart beyond doubt.
# The other two species touch: the odds against their being one cluster are far lower.

figure = plot_dendrogram(tree)

# %%
# How tight is the bound? With few rows the evidence can be summed exactly, and so can be compared:
# lengths of petals of up to twelve flowers. Relocated branches (``alternative_trees``) add
# partitions to the sum, and raise the bound. One partition alone, the most probable one, is a bound
# as well, a looser one here.

prior = {"m0": 3.7, "c0": 0.1, "a0": 2.0, "b0": 0.3}
sizes = np.arange(4, 13)
petals = np.random.default_rng(0).permutation(iris.data[:, 2:3])
gaps = {"tree": [], "tree, branches relocated": [], "best partition": []}
for n in sizes:
    exact = exact_posterior(petals[:n], alpha=1.0, prior=prior)
    grown = BayesianHierarchicalClustering(
        component="normal-gamma", prior=prior, alternative_trees=True
    ).fit(petals[:n])
    evidence = exact.log_evidence
    gaps["tree"].append(grown.log_evidence_bound_ - evidence)
    gaps["tree, branches relocated"].append(grown.log_evidence_bound_alternative_ - evidence)
    gaps["best partition"].append(-exact.neg_log_joint - evidence)

figure, axes = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
for colour, (name, gap) in zip(COLOURS, gaps.items(), strict=False):
    axes.plot(sizes, gap, "o-", color=colour, label=name)
axes.axhline(0.0, color="0.4", linestyle="--", label="exact evidence")
axes.set(xlabel="rows", ylabel="bound − evidence, nats", xticks=sizes)
axes.legend(frameon=False, loc="lower left")

# %%
# .. seealso:: :doc:`/guide/trees`
