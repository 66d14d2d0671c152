"""Mean-field variational inference for mixtures of T components.

The posterior of labels and parameters is approximated by q(z) q(theta), where each row has
probabilities of its own, its responsibilities r_ik = q(z_i = k), and each component's parameters
have a posterior of the family. What can be got by it is bounded by

    log p(x) >= E[log p(x | z, theta)] + E[log p(z)] - KL(q(theta) | p(theta)) + H(q(z)),

and each step raises the right-hand side in one factor [1]_. q(theta_k) is best when it holds the
part r_ik of each row; by conjugacy its terms are then log p(these parts | theta_0), which a family
knows exactly. So families need answer only `expected_log_density`, `add` and `log_marginal`. What
is believed of the labels, and whether E[log p(z)] is exact, is told by models.mixing.

References
----------
.. [1] Blei & Jordan, "Variational inference for Dirichlet process mixtures", 2006.
"""

from math import exp, log

from dpmlite.algorithms.mixing import Mixing
from dpmlite.core.constants import LARGER
from dpmlite.core.rows import Rows, as_rows
from dpmlite.core.types import Buffer, Values
from dpmlite.families.component import Component


def absorb(
    X: Rows | Values, component: Component, mixing: Mixing, responsibilities: Values
) -> float:
    """Set both posteriors to what responsibilities imply.

    Parameters
    ----------
    X : Rows, or sequence of rows (N, D)
        A row of weight w stands for w equal rows that share a label.
    component : Component
        OUT: slot k has of each row the part r_ik; what it held before is forgotten.
    mixing : Mixing
        OUT: it observes the responsibilities.
    responsibilities : sequence of sequences of float, (N, T)
        Those of a row sum to 1.

    Returns
    -------
    float
        The bound, in nats, all constants included.

    Raises
    ------
    ValueError
        If shapes do not fit together.
    """
    rows = as_rows(X)
    component._check_rows(rows)
    mixing.observe(rows, responsibilities)
    _share(rows, component, responsibilities, mixing.n_components)
    entropy = 0.0
    for shares in responsibilities:
        entropy -= sum(r * log(r) for r in shares if r > 0.0)
    return _evidence(component, mixing) + entropy


def step(
    X: Rows | Values,
    component: Component,
    mixing: Mixing,
    responsibilities: Values,
    reorder: bool,
) -> float:
    """Renew the responsibilities of every row, and then both posteriors.

    Parameters
    ----------
    X, component, mixing
        As `absorb` left them.
    responsibilities : sequence of mutable sequences of float, (N, T)
        IN and OUT.
    reorder : bool
        Whether components are put in order, the largest first, where the order matters and the
        bound does not fall by it, as Kurihara, Welling & Teh (2007) do.

    Returns
    -------
    float
        The bound. It does not fall from call to call if `mixing` is exact, as `Sticks` is.
    """
    rows = as_rows(X)
    component._check_rows(rows)
    mixing._check_shape(rows, responsibilities)
    _check_slots(component, mixing)
    entropy = 0.0
    for i in range(len(rows)):
        shares = responsibilities[i]
        weight, row = rows.weight(i), rows.values(i)
        mixing.leave(shares, weight)
        scores = [
            prior + component.expected_log_density(row, k, weight)
            for k, prior in enumerate(mixing.log_weights(weight))
        ]
        entropy += _normalise(scores, shares)
        mixing.join(shares, weight)
    mixing.observe(rows, responsibilities)
    if reorder and mixing.ordered:
        _reorder(rows, mixing, responsibilities)
    _share(rows, component, responsibilities, mixing.n_components)
    return _evidence(component, mixing) + entropy


def _normalise(scores: list[float], out: Buffer) -> float:
    """Probabilities from their logarithms, up to a constant; returns their entropy."""
    most = max(scores)
    parts = [exp(s - most) for s in scores]
    total = sum(parts)
    mean = 0.0
    for k, part in enumerate(parts):
        out[k] = part / total
        mean += out[k] * (scores[k] - most)
    return log(total) - mean


def _reorder(rows: Rows, mixing: Mixing, responsibilities: Values) -> None:
    order = _largest_first(mixing.counts, LARGER * sum(mixing.counts))
    if order == sorted(order):
        return
    before = mixing.log_evidence()
    _permute(responsibilities, order)
    mixing.observe(rows, responsibilities)
    if mixing.log_evidence() < before:  # the last component, which has no v_k, may be better large
        _permute(responsibilities, sorted(order, key=order.__getitem__))
        mixing.observe(rows, responsibilities)


def _largest_first(counts: Values, margin: float) -> list[int]:
    """Components by size; one that is larger by less than `margin` stays behind."""
    order: list[int] = []
    for k in range(len(counts)):
        at = k
        while at > 0 and counts[k] > counts[order[at - 1]] + margin:
            at -= 1
        order.insert(at, k)
    return order


def _permute(responsibilities: Values, order: list[int]) -> None:
    for shares in responsibilities:
        moved = [shares[k] for k in order]
        for k, r in enumerate(moved):
            shares[k] = r


def _share(rows: Rows, component: Component, responsibilities: Values, n_components: int) -> None:
    component.resize(n_components)
    for k in range(n_components):
        component.clear(k)
    for i in range(len(rows)):
        for k in range(n_components):
            part = rows.weight(i) * responsibilities[i][k]
            if part > 0.0:
                component.add(rows.values(i), k, part)


def _evidence(component: Component, mixing: Mixing) -> float:
    marginals = sum(component.log_marginal(k) for k in range(component.n_slots))
    return marginals + mixing.log_evidence()


def _check_slots(component: Component, mixing: Mixing) -> None:
    if component.n_slots != mixing.n_components:
        raise ValueError(
            f"component must have {mixing.n_components} slots, got {component.n_slots}"
        )
