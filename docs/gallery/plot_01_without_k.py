"""
k-means without K
=================

``KMeans`` has to be told the number of clusters. ``MAPDPM`` finds it.
"""

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_mutual_info_score

from dpmlite import MAPDPM, neg_log_joint
from dpmlite.datasets import unequal_gaussians
from dpmlite.plotting import COLOURS

# %%
# Nine clusters of unequal sizes and widths. ``truth`` also knows the density from which they were
# drawn, and so the labels that nobody can improve on.

truth = unequal_gaussians(2, 9, spread=8.0, alpha=8.0, random_state=4)
X, drawn = truth.sample(1500, random_state=4)

# %%
# Nothing is told to ``MAPDPM``. ``KMeans`` is told the truth.

model = MAPDPM(random_state=0).fit(X)
kmeans = KMeans(9, n_init=10, random_state=0).fit(X)

labels = {"drawn": drawn, "KMeans(9)": kmeans.labels_, "MAPDPM()": model.labels_}
for name, found in labels.items():
    agreement = adjusted_mutual_info_score(drawn, found)
    print(f"{name:10} {len(set(found)):2} clusters, agreement with the truth {agreement:.3f}")
best = adjusted_mutual_info_score(drawn, truth.predict(X))
print(f"the best that is possible, which knows the density: {best:.3f}")

# %%
# k-means divides wide clusters and merges narrow ones: its clusters are equally wide.


def scatter(axes, labels, title):
    """Rows in the colours of their clusters."""
    axes.scatter(*X.T, s=4, c=labels, cmap="tab10", linewidths=0)
    axes.set(title=title, xticks=[], yticks=[])


figure, panels = plt.subplots(1, 3, figsize=(9.6, 3.4), layout="constrained")
for axes, (name, found) in zip(panels, labels.items(), strict=True):
    scatter(axes, found, f"{name}: {len(set(found))}")

# %%
# What would K have been, if nobody knew? The sum of squares falls with every cluster, and has no
# elbow at nine. The joint probability charges for each cluster: too many are as bad as too few.
# And the partition that ``MAPDPM`` finds is better than that of every k-means.

ks = range(2, 17)
tries = [KMeans(k, n_init=3, random_state=0).fit(X) for k in ks]


def joint(labels):
    """Minus log of the joint probability of rows and labels, under the model that was found."""
    return neg_log_joint(X, labels, alpha=1.0, component=model.component_, prior=model.prior_)


figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.2), layout="constrained")
left.plot(ks, [k_means.inertia_ for k_means in tries], "o-", color=COLOURS[1])
left.set(xlabel="clusters", title="k-means: sum of squares", ylim=(0, None))
right.plot(
    ks, [joint(k_means.labels_) for k_means in tries], "o-", color=COLOURS[1], label="KMeans(K)"
)
right.plot(model.n_clusters_, joint(model.labels_), "*", ms=14, color=COLOURS[0], label="MAPDPM()")
right.set(xlabel="clusters", title="minus log joint, in nats: lower is better")
right.legend(frameon=False)

# %%
# .. seealso:: :doc:`/guide/number-of-clusters` explains how the number is found.
