"""What a learner should answer, in float64 from the rows of each cluster: eq. 12, 16 and 17 of
Raykov, Boukouvalas & Little (2014) with the normal-gamma prior, written out a second time.
"""

import math

import numpy as np


class Reference:
    """Clusters as their rows' sums, with a weight of their own; costs and joint in nats."""

    def __init__(self, m0, b0, c0=(1, 10), a0=(1, 1), alpha=(1, 1)):
        self.m0, self.b0 = np.asarray(m0, float), np.asarray(b0, float)
        self.c0, self.a0, self.alpha = c0[0] / c0[1], a0[0] / a0[1], alpha[0] / alpha[1]
        self.clusters, self.weights = {}, {}

    def add(self, x, k):
        n, total, squares = self.clusters.get(k, (0, 0.0, 0.0))
        y = np.asarray(x, float) - self.m0
        self.clusters[k] = n + 1, total + y, squares + y * y
        self.weights[k] = self.weights.get(k, 0) + 1

    def posterior(self, sums):
        n, total, squares = sums
        c = self.c0 + n
        return n, c, self.a0 + n / 2, total / c, self.b0 + 0.5 * (squares - total**2 / c)

    def cost(self, x, sums, weight=0):
        """-log of weight (alpha where it is 0) times predictive density, without N + alpha."""
        n, c, a, m, b = self.posterior(sums)
        y = np.asarray(x, float) - self.m0
        scale = 2 * b * (c + 1) / c
        density = math.lgamma(a + 0.5) - math.lgamma(a) - 0.5 * np.log(math.pi * scale)
        density = density - (a + 0.5) * np.log1p((y - m) ** 2 / scale)
        return -math.log(weight or self.alpha) - density.sum()

    def costs(self, x):
        """Cost in every cluster and, last, in a new one."""
        found = {k: self.cost(x, sums, self.weights[k]) for k, sums in self.clusters.items()}
        return {**found, -1: self.cost(x, EMPTY)}

    def surprise(self, x):
        """-log2 of the predictive density, eq. 17."""
        costs = np.array(list(self.costs(x).values()))
        rows = sum(self.weights.values())
        least = costs.min()
        nats = least - math.log(np.exp(least - costs).sum()) + math.log(rows + self.alpha)
        return nats / math.log(2)

    def joint(self, sums):
        """What one cluster adds to the negative log joint, without what depends on N alone."""
        n, c, a, _, b = self.posterior(sums)
        terms = math.lgamma(a) - math.lgamma(self.a0) + 0.5 * math.log(self.c0 / c)
        terms = terms + self.a0 * np.log(self.b0) - a * np.log(b) - n / 2 * math.log(2 * math.pi)
        return -math.log(self.alpha) - math.lgamma(n) - terms.sum()

    def rise(self, j, k):
        """Change of the joint if clusters j and k are merged."""
        merged = tuple(a + b for a, b in zip(self.clusters[j], self.clusters[k], strict=True))
        return self.joint(merged) - self.joint(self.clusters[j]) - self.joint(self.clusters[k])


EMPTY = (0, 0.0, 0.0)
