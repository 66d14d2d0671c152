"""Steps of variational inference: against terms written out, sums over labels, and each other."""

import naive_variational as naive
import numpy as np
import pytest
from cases import compressed, problems
from families import CASES
from hypothesis import given, settings
from hypothesis import strategies as st

FAMILIES = tuple(naive.TERMS)
WITH_GAPS = (
    "incomplete beta-bernoulli",
    "incomplete categorical",
    "incomplete poisson-gamma",
)
KINDS = ("Sticks", "CollapsedSticks", "CollapsedDirichlet")


@pytest.fixture(params=FAMILIES)
def family(request):
    return request.param


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


def problem(family, seed, n_rows, n_columns=2):
    rng = np.random.default_rng(seed)
    case = CASES[family]
    return case, case.prior(rng, n_columns), case.draw(rng, n_rows, n_columns), rng


class Run:
    """Some steps of one implementation, and all that can be seen of them."""

    def __init__(self, twin, case, prior, X, alpha, kind, responsibilities, weights=None):
        self.twin = twin
        self.rows = twin.rows.Rows(X, weights)
        self.component = case.component(twin, prior)
        self.mixing = getattr(twin.mixing, kind)(alpha, responsibilities.shape[1])
        self.responsibilities = responsibilities.copy()
        absorb = twin.variational.absorb
        self.trace = [absorb(self.rows, self.component, self.mixing, self.responsibilities)]

    def steps(self, n_steps, reorder=True):
        for _ in range(n_steps):
            bound = self.twin.variational.step(
                self.rows, self.component, self.mixing, self.responsibilities, reorder
            )
            self.trace.append(bound)
        return self


# Expected log densities.


@pytest.mark.parametrize("name", [*FAMILIES, *WITH_GAPS])
@pytest.mark.parametrize("weight", [1.0, 2.5])
def test_expected_log_density_is_the_slope_of_the_predictive_one(twin, name, weight):
    """d/dw of log E[p(x | theta)^w] at 0 is E[log p(x | theta)]."""
    case, prior, X, _ = problem(name, 3, 12, 3)
    component = case.component(twin, prior)
    component.resize(3)
    for i in range(8):
        component.add(X[i], i % 2, 0.3 + 0.2 * i)
    h = 2e-5
    for x in X[8:]:
        for k in range(3):  # the last is empty
            one, two, four = (component.log_predictive(x, k, j * h) / (j * h) for j in (1, 2, 4))
            slope = (8.0 * one - 6.0 * two + four) / 3.0
            found = component.expected_log_density(x, k, weight)
            assert found == pytest.approx(weight * slope, rel=1e-7, abs=1e-7)


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 10**6), name=st.sampled_from(FAMILIES), scale=st.sampled_from([1e-9, 1e9])
)
def test_expected_log_density_is_the_textbook_s(twin, seed, name, scale):
    case, prior, X, rng = problem(name, seed, 9, 3)
    shift = 0.0
    if name == "normal-gamma":
        shift = (1e8 - 0.5) * prior["b0"] ** 0.5 * scale
        X = X * scale + shift
        prior = {**prior, "m0": prior["m0"] * scale + shift, "b0": prior["b0"] * scale**2}
    component = case.component(twin, prior)
    component.resize(1)
    shares = rng.random(9)
    for x, share in zip(X, shares, strict=True):
        component.add(x, 0, share)
    logs, _ = naive.TERMS[name](X, shares, prior)
    found = [component.expected_log_density(x, 0) for x in X]
    np.testing.assert_allclose(found, logs, rtol=1e-6, atol=1e-6)


def test_not_every_family_has_one(twin):
    component = without_expectations(twin)[0]
    component.resize(1)
    with pytest.raises(NotImplementedError):
        component.expected_log_density(np.zeros(1), 0)


# The bound.


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    name=st.sampled_from(FAMILIES),
    alpha=st.sampled_from([0.2, 1.0, 6.0]),
    n_components=st.integers(1, 5),
)
def test_the_bound_is_the_sum_of_its_terms(twin, seed, name, alpha, n_components):
    case, prior, X, rng = problem(name, seed, 7)
    r = rng.dirichlet(np.full(n_components, 0.4), size=7)
    run = Run(twin, case, prior, X, alpha, "Sticks", r)
    expected = naive.lower_bound(name, X, r, prior, alpha)
    assert run.trace[0] == pytest.approx(expected, rel=1e-9, abs=1e-8)
    run.steps(3)
    expected = naive.lower_bound(name, X, run.responsibilities, prior, alpha)
    assert run.trace[-1] == pytest.approx(expected, rel=1e-9, abs=1e-8)


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    name=st.sampled_from(FAMILIES),
    alpha=st.sampled_from([0.2, 1.0, 6.0]),
    shape=st.sampled_from([(1, 4), (3, 4), (5, 3), (7, 2)]),
)
def test_vb_stays_below_the_evidence_of_the_truncated_model(twin, seed, name, alpha, shape):
    n_rows, n_components = shape
    case, prior, X, rng = problem(name, seed, n_rows)
    r = rng.dirichlet(np.full(n_components, 0.4), size=n_rows)
    run = Run(twin, case, prior, X, alpha, "Sticks", r).steps(6)
    evidence = naive.log_evidence(case, X, prior, alpha, n_components, naive.log_prior_sticks)
    assert max(run.trace) <= evidence + 1e-9
    assert min(np.diff(run.trace)) >= -1e-9


def test_weighted_rows_are_copies_that_share_a_label(twin, family):
    case, prior, X, rng = problem(family, 5, 5)
    copies = np.array([1, 3, 2, 1, 4])
    r = rng.dirichlet(np.ones(3), size=5)
    run = Run(twin, case, prior, X, 1.0, "Sticks", r, copies.astype(float)).steps(10)
    evidence = naive.log_evidence(case, X, prior, 1.0, 3, naive.log_prior_sticks, copies)
    assert max(run.trace) <= evidence + 1e-9
    assert min(np.diff(run.trace)) >= -1e-9
    certain = np.eye(3)[[0, 1, 1, 2, 0]]
    run = Run(twin, case, prior, X, 1.0, "Sticks", certain, copies.astype(float))
    rows, z = X.repeat(copies, axis=0), np.array([0, 1, 1, 2, 0]).repeat(copies)
    joint = naive.log_prior_sticks(np.bincount(z).tolist(), 1.0)
    joint += sum(case.log_marginal(rows[z == k], prior) for k in range(3))
    assert run.trace[0] == pytest.approx(joint, rel=1e-10)


@settings(max_examples=30, deadline=None)
@given(drawn=problems(max_rows=12), reorder=st.booleans(), seed=st.integers(0, 99))
def test_vb_never_falls_on_ties_and_duplicates(twin, drawn, reorder, seed):
    X, prior, alpha = drawn
    r = np.eye(4)[np.random.default_rng(seed).integers(4, size=len(X))]
    run = Run(twin, CASES["normal-gamma"], prior, X, alpha, "Sticks", r).steps(8, reorder)
    slack = 1e-10 * max(1.0, abs(run.trace[0]))
    assert min(np.diff(run.trace)) >= -slack


def test_certain_labels_give_the_joint(twin, family, kind):
    case, prior, X, _ = problem(family, 1, 6)
    z, copies = np.array([0, 2, 0, 1, 2, 0]), np.array([1, 2, 1, 3, 1, 1])
    run = Run(twin, case, prior, X, 0.8, kind, np.eye(4)[z], copies.astype(float))
    dirichlet = kind == "CollapsedDirichlet"
    log_prior = naive.log_prior_dirichlet if dirichlet else naive.log_prior_sticks
    X, z = X.repeat(copies, axis=0), z.repeat(copies)
    joint = log_prior(np.bincount(z, minlength=4).tolist(), 0.8)
    joint += sum(case.log_marginal(X[z == k], prior) for k in range(3))
    assert run.trace[0] == pytest.approx(joint, rel=1e-11)


def test_one_component_is_one_cluster(twin, family, kind):
    case, prior, X, _ = problem(family, 2, 6)
    run = Run(twin, case, prior, X, 0.8, kind, np.ones((6, 1))).steps(2)
    np.testing.assert_allclose(run.trace, case.log_marginal(X, prior), rtol=1e-11)


# Steps.


def test_a_step_of_vb_is_that_of_the_textbook(twin, family):
    case, prior, X, rng = problem(family, 8, 6)
    r = rng.dirichlet(np.ones(3), size=6)
    alpha, counts = 0.6, r.sum(axis=0)
    a, b = 1.0 + counts[:2], alpha + np.array([counts[1] + counts[2], counts[2]])
    log_v = np.append(naive.psi(a) - naive.psi(a + b), 0.0)
    log_rest = np.append(0.0, np.cumsum(naive.psi(b) - naive.psi(a + b)))
    logs = [naive.TERMS[family](X, r[:, k], prior)[0] for k in range(3)]
    scores = np.array(logs).T + log_v + log_rest
    expected = np.exp(scores - scores.max(axis=1, keepdims=True))
    run = Run(twin, case, prior, X, alpha, "Sticks", r).steps(1, reorder=False)
    np.testing.assert_allclose(
        run.responsibilities, expected / expected.sum(axis=1, keepdims=True), rtol=1e-8, atol=1e-12
    )


@pytest.mark.parametrize("kind", ["Sticks", "CollapsedSticks"])
def test_components_are_put_in_order(twin, kind):
    case, prior, X, _ = problem("normal-gamma", 4, 20)
    z = np.repeat([0, 1, 3], [2, 5, 13])  # the largest last
    r = np.eye(4)[z]
    kept = Run(twin, case, prior, X, 0.5, kind, r).steps(1, reorder=False)
    sorted_ = Run(twin, case, prior, X, 0.5, kind, r).steps(1, reorder=True)
    assert sorted_.mixing.counts == sorted(sorted_.mixing.counts, reverse=True)
    np.testing.assert_allclose(
        sorted(kept.mixing.counts), sorted(sorted_.mixing.counts), rtol=1e-12
    )
    assert sorted_.trace[-1] > kept.trace[-1]
    if kind == "Sticks":
        order = np.argsort(-np.array(kept.mixing.counts), kind="stable")
        np.testing.assert_array_equal(sorted_.responsibilities, kept.responsibilities[:, order])


def test_components_keep_their_order_where_sorting_would_lower_the_bound(twin):
    """A large alpha wants the rest of the stick, the last component, to be large."""
    case, prior, X, _ = problem("normal-gamma", 4, 12)
    r = np.eye(2)[np.repeat([0, 1], [3, 9])]
    kept, sorted_ = (
        Run(twin, case, prior, X, 8.0, "Sticks", r).steps(1, reorder) for reorder in (False, True)
    )
    assert kept.mixing.counts[0] < kept.mixing.counts[1]
    np.testing.assert_array_equal(sorted_.responsibilities, kept.responsibilities)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    name=st.sampled_from([*FAMILIES, *WITH_GAPS]),
    kind=st.sampled_from(KINDS),
    n_components=st.integers(1, 19),
    n_columns=st.integers(1, 10),
    reorder=st.booleans(),
    weighted=st.booleans(),
)
def test_twins_agree(twins, seed, name, kind, n_components, n_columns, reorder, weighted):
    case, prior, X, rng = problem(name, seed, 14, n_columns)
    r = rng.dirichlet(np.full(n_components, 0.3), size=14)
    weights = rng.choice([0.5, 1.0, 4.0], size=14) if weighted else None
    plain, kernel = (
        Run(twin, case, prior, X, 0.9, kind, r, weights).steps(6, reorder) for twin in twins
    )
    np.testing.assert_allclose(plain.trace, kernel.trace, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(plain.responsibilities, kernel.responsibilities, atol=1e-9)
    for k in range(n_components):
        np.testing.assert_allclose(
            plain.component.statistics(k), kernel.component.statistics(k), rtol=1e-9, atol=1e-9
        )


def test_components_are_ordinary_clusters_afterwards(twin, family):
    """Shares give the statistics that `add` does, and slots that are made later are empty."""
    case, prior, X, rng = problem(family, 6, 8)
    r = rng.dirichlet(np.ones(3), size=8)
    run = Run(twin, case, prior, X, 1.0, "Sticks", r)
    fresh = case.component(twin, prior)
    fresh.resize(5)
    for x, shares in zip(X, r, strict=True):
        for k, share in enumerate(shares):
            fresh.add(x, k, share)
    run.component.resize(5)
    for k in range(5):
        np.testing.assert_allclose(
            run.component.log_predictive_all(X[k]), fresh.log_predictive_all(X[k]), rtol=1e-11
        )
        assert run.component.log_marginal(k) == pytest.approx(fresh.log_marginal(k), rel=1e-11)
        assert run.component.log_predictive(X[0], k) == pytest.approx(
            fresh.log_predictive(X[0], k), rel=1e-11
        )
    assert run.component.remove(X[0], 0, r[0, 0])


@pytest.mark.parametrize("name", ["dirichlet-multinomial", "beta-bernoulli"])
def test_sparse_rows_are_the_same_rows(twin, name):
    case, prior, X, rng = problem(name, 7, 10, 6)
    r = rng.dirichlet(np.ones(3), size=10)
    dense = Run(twin, case, prior, X, 1.0, "Sticks", r).steps(4)
    sparse = Run(twin, case, prior, X, 1.0, "Sticks", r)
    sparse.rows = compressed(twin, X)
    sparse.steps(4)
    np.testing.assert_allclose(sparse.responsibilities, dense.responsibilities, rtol=1e-12)


CALLS = {
    "responsibilities of other rows": lambda t, c, m: t.variational.absorb(
        np.zeros((2, 2)), c, m, np.ones((3, 2))
    ),
    "responsibilities of other components": lambda t, c, m: t.variational.step(
        np.zeros((2, 2)), c, m, np.ones((2, 3)), True
    ),
    "rows of another width": lambda t, c, m: t.variational.absorb(
        np.zeros((2, 3)), c, m, np.ones((2, 2))
    ),
    "a component that absorbed nothing": lambda t, c, m: t.variational.step(
        np.zeros((2, 2)), c, m, np.ones((2, 2)), True
    ),
    "alpha": lambda t, c, m: t.mixing.Sticks(-1.0, 2),
    "no component": lambda t, c, m: t.mixing.CollapsedDirichlet(1.0, 0),
    "a slot that is not there": lambda t, c, m: c.expected_log_density(np.zeros(2), 3),
    "a row that is too long": lambda t, c, m: c.expected_log_density(np.zeros(3), 0),
}


@pytest.mark.parametrize("call", CALLS)
def test_twins_raise_the_same_errors(twins, call):
    errors = []
    for twin in twins:
        component = twin.normal_gamma.NormalGamma([0.0, 0.0], 1.0, 1.0, [1.0, 1.0])
        component.resize(1)
        with pytest.raises((ValueError, IndexError)) as caught:
            CALLS[call](twin, component, twin.mixing.Sticks(1.0, 2))
        errors.append((type(caught.value), str(caught.value)))
    assert errors[0] == errors[1]


def without_expectations(twin):
    """A family without expected log densities, and a product that has it as a part."""
    part = twin.incomplete_normal_gamma.IncompleteNormalGamma([0.0], 1.0, 1.0, [1.0])
    other = twin.normal_gamma.NormalGamma([0.0], 1.0, 1.0, [1.0])
    return part, twin.product.Product([other, part])


@pytest.mark.parametrize("which", [0, 1])
def test_families_without_expectations_are_refused_before_any_work(twin, which):
    component = without_expectations(twin)[which]
    component.resize(1)
    X, r = np.ones((3, component.n_columns)), np.full((3, 2), 0.5)
    mixing, called = twin.mixing.Sticks(1.0, 2), twin.variational
    rule = "component must have expected log densities, got IncompleteNormalGamma"
    with pytest.raises(TypeError, match=rule):
        called.absorb(X, component, mixing, r)
    with pytest.raises(TypeError, match=rule):
        called.step(X, component, mixing, r, True)
    assert component.n_slots == 1
    assert (r == 0.5).all()
