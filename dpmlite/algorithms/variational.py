"""Mean-field variational inference for mixtures of T components.

The posterior of labels and parameters is approximated by q(z) q(theta). Each row has its own label
probabilities, the responsibilities r_ik = q(z_i = k), and the parameters of each component have a
posterior of the family. The evidence is bounded by

    log p(x) >= E[log p(x | z, theta)] + E[log p(z)] - KL(q(theta) | p(theta)) + H(q(z)),

and each step raises the right-hand side in one factor [1]_. The best q(theta_k) holds each row with
the weight r_ik. By conjugacy, its terms are then the log marginal likelihood of the rows with these
weights, which a family knows exactly. So a family needs only `expected_log_density`, `add` and
`log_marginal`. The prior of the labels, and whether E[log p(z)] is exact, is a matter of `mixing`.

References
----------
.. [1] Blei & Jordan, "Variational inference for Dirichlet process mixtures", 2006.
"""

from math import exp, log

from dpmlite.algorithms.mixing import Mixing
from dpmlite.core.constants import MIN_EXCESS_FRACTION
from dpmlite.core.protocols import Buffer, Values
from dpmlite.core.rows import Rows, as_rows
from dpmlite.families.component import Component


def absorb(
    X: Rows | Values, component: Component, mixing: Mixing, responsibilities: Values
) -> float:
    """Set both posteriors to the best ones for given responsibilities.

    Parameters
    ----------
    X : Rows, or sequence of rows (N, D)
        A row of weight w stands for w equal rows that share a label.
    component : Component
        OUT: slot k holds each row with the weight r_ik; what it held before is replaced.
    mixing : Mixing
        OUT: it has observed the responsibilities.
    responsibilities : sequence of sequences of float, (N, T)
        The responsibilities of a row sum to 1.

    Returns
    -------
    float
        The bound, in nats, all constants included.

    Raises
    ------
    TypeError
        If the family has no expected log densities.
    ValueError
        If shapes do not fit together.
    """
    component._check_expectations()
    rows = as_rows(X)
    component._check_rows(rows)
    mixing.observe(rows, responsibilities)
    _add_weighted(rows, component, responsibilities, mixing.n_components)
    entropy = 0.0
    for r_i in responsibilities:
        entropy -= sum(r * log(r) for r in r_i if r > 0.0)
    return _evidence(component, mixing) + entropy


def step(
    X: Rows | Values,
    component: Component,
    mixing: Mixing,
    responsibilities: Values,
    reorder: bool,
) -> float:
    """Update the responsibilities of every row, and then both posteriors.

    Parameters
    ----------
    X : Rows, or sequence of rows (N, D)
        The data.
    component : Component
        IN and OUT: as `absorb` leaves it.
    mixing : Mixing
        IN and OUT: as `absorb` leaves it.
    responsibilities : sequence of mutable sequences of float, (N, T)
        IN and OUT.
    reorder : bool
        Whether to sort the components by size, the largest first, if the order matters and the
        bound does not fall: Kurihara, Welling & Teh (2007).

    Returns
    -------
    float
        The bound, in nats. If `mixing` is exact, as `Sticks` is, it never falls from call to call.

    Raises
    ------
    TypeError, ValueError
        As `absorb`.
    """
    component._check_expectations()
    rows = as_rows(X)
    component._check_rows(rows)
    mixing._check_shape(rows, responsibilities)
    _check_slots(component, mixing)
    entropy = 0.0
    for i in range(len(rows)):
        r_i = responsibilities[i]
        weight, row = rows.weight(i), rows.values(i)
        mixing.leave(r_i, weight)
        scores = [
            prior + component.expected_log_density(row, k, weight)
            for k, prior in enumerate(mixing.log_weights(weight))
        ]
        entropy += _normalise(scores, r_i)
        mixing.join(r_i, weight)
    mixing.observe(rows, responsibilities)
    if reorder and mixing.ordered:
        _reorder(rows, mixing, responsibilities)
    _add_weighted(rows, component, responsibilities, mixing.n_components)
    return _evidence(component, mixing) + entropy


def _normalise(scores: list[float], out: Buffer) -> float:
    """Write the probabilities with these logarithms, up to a constant; return their entropy."""
    most = max(scores)
    weights = [exp(s - most) for s in scores]
    total = sum(weights)
    mean = 0.0
    for k, weight in enumerate(weights):
        out[k] = weight / total
        mean += out[k] * (scores[k] - most)
    return log(total) - mean


def _reorder(rows: Rows, mixing: Mixing, responsibilities: Values) -> None:
    """Sort the components by size, unless the bound falls by it."""
    order = _largest_first(mixing.counts, MIN_EXCESS_FRACTION * sum(mixing.counts))
    if order == sorted(order):
        return
    before = mixing.log_evidence()
    _permute(responsibilities, order)
    mixing.observe(rows, responsibilities)
    if mixing.log_evidence() < before:  # the last component has no v_k, and may be better large
        _permute(responsibilities, sorted(order, key=order.__getitem__))
        mixing.observe(rows, responsibilities)


def _largest_first(counts: Values, margin: float) -> list[int]:
    """Order components by size; one that is larger by less than `margin` stays behind."""
    order: list[int] = []
    for k in range(len(counts)):
        at = k
        while at > 0 and counts[k] > counts[order[at - 1]] + margin:
            at -= 1
        order.insert(at, k)
    return order


def _permute(responsibilities: Values, order: list[int]) -> None:
    """Reorder the responsibilities of every row: the new k-th ones are the old order[k]-th ones."""
    for r_i in responsibilities:
        permuted = [r_i[k] for k in order]
        for k, r in enumerate(permuted):
            r_i[k] = r


def _add_weighted(
    rows: Rows, component: Component, responsibilities: Values, n_components: int
) -> None:
    """Let slot k hold each row with the weight r_ik."""
    component.resize(n_components)
    for k in range(n_components):
        component.clear(k)
    for i in range(len(rows)):
        for k in range(n_components):
            weight = rows.weight(i) * responsibilities[i][k]
            if weight > 0.0:
                component.add(rows.values(i), k, weight)


def _evidence(component: Component, mixing: Mixing) -> float:
    """The bound, without the entropy of the responsibilities."""
    marginals = sum(component.log_marginal(k) for k in range(component.n_slots))
    return marginals + mixing.log_evidence()


def _check_slots(component: Component, mixing: Mixing) -> None:
    if component.n_slots != mixing.n_components:
        raise ValueError(
            f"component must have {mixing.n_components} slots, got {component.n_slots}"
        )
