"""The depth of a valley against exact densities, and what it must not depend on."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpmlite.joining import NormalComponents, normal_components, pair_depths, valley


def fitted(X, labels, full=False, weights=None):
    """Each label's rows as a normal."""
    known = [X[labels == k] for k in range(labels.max() + 1)]
    covariances = [np.cov(rows.T, ddof=0).reshape(X.shape[1], -1) for rows in known]
    if not full:
        covariances = [np.diag(each) for each in covariances]
    shares = np.bincount(labels, weights) / (len(X) if weights is None else weights.sum())
    means = np.array([np.nanmean(rows, axis=0) for rows in known])
    return NormalComponents(shares, means, np.array(covariances))


def depth(X, labels, full=False):
    return pair_depths(fitted(X, labels, full), X, labels)[0, 1]


def two_normals(rng, n_rows, gap, n_columns=2):
    """Rows of two normals of variance 1, and which of them drew each."""
    labels = np.arange(n_rows) % 2
    centres = np.zeros((2, n_columns))
    centres[1] = gap / np.sqrt(n_columns)
    return centres[labels] + rng.normal(size=(n_rows, n_columns)), labels


@pytest.mark.parametrize("gap", [3.0, 4.0, 5.0, 6.0])
@pytest.mark.parametrize("full", [False, True])
def test_two_normals_have_the_depth_of_their_exact_density_smoothed(gap, full):
    """The kernel widens both normals, and rows in the valley are fewer the deeper it is."""
    X, labels = two_normals(np.random.default_rng(0), 4000, gap)
    width = valley.BANDWIDTH * (2 * valley.MAX_ROWS) ** -0.2
    variance = 1.0 + width**2
    at_peak = 1.0 + np.exp(-0.5 * gap**2 / variance)
    exact = np.log(at_peak) - np.log(2.0 * np.exp(-0.125 * gap**2 / variance))
    assert depth(X, labels, full) == pytest.approx(exact, abs=0.2 + 0.15 * exact)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize(("share", "most"), [(0.5, 0.1), (0.2, 0.25), (0.05, 0.6)])
def test_a_uniform_rectangle_cut_in_two_has_no_deep_valley(full, share, most):
    """The narrower the smaller part, the fewer rows of the other one are within a bandwidth."""
    X = np.random.default_rng(1).uniform(size=(20_000, 2)) * [3.0, 1.0]
    labels = (X[:, 0] > 3.0 * share).astype(int)
    assert depth(X, labels, full) < most


@given(st.integers(0, 10**6))
@settings(max_examples=25)
def test_affine_maps_do_not_change_a_depth_of_full_covariance(seed):
    rng = np.random.default_rng(seed)
    X, labels = two_normals(rng, 300, 3.5, n_columns=3)
    A, shift = rng.normal(size=(3, 3)), rng.normal(scale=100.0, size=3)
    Y = X @ A + shift
    tolerance = 1e-9 * np.linalg.cond(A) ** 2 + 1e-9
    assert depth(Y, labels, full=True) == pytest.approx(depth(X, labels, full=True), abs=tolerance)


@given(st.integers(0, 10**6))
@settings(max_examples=25)
def test_scales_of_columns_do_not_change_a_depth(seed):
    rng = np.random.default_rng(seed)
    X, labels = two_normals(rng, 300, 3.5, n_columns=3)
    Y = X * 10.0 ** rng.uniform(-12.0, 12.0, size=3) * rng.choice([-1.0, 1.0], size=3)
    assert depth(Y, labels) == pytest.approx(depth(X, labels), abs=1e-9)


@pytest.mark.parametrize("gap", [3.0, 4.0])
def test_few_rows_are_believed_less(gap):
    """The rows alone have the density of the rows repeated, but for the bandwidth."""
    for seed in range(10):
        X, labels = two_normals(np.random.default_rng(seed), 30, gap)
        found = [depth(np.repeat(X, n, axis=0), np.repeat(labels, n)) for n in (1, 4, 16)]
        assert found == sorted(found)


def test_a_prior_that_draws_the_mean_of_a_single_row_away_hides_no_valley():
    """The line between the posterior means ends far from this row, where no kernel reaches."""
    X = np.vstack([np.random.default_rng(9).normal(scale=0.1, size=(100, 2)), [[-9999.0, -9999.0]]])
    labels = np.append(np.zeros(100, int), 1)
    means, covariances = (
        np.array([[0.0, 0.0], [-9960.0, -9960.0]]),
        np.array([[0.01] * 2, [1e5] * 2]),
    )
    components = NormalComponents(np.array([0.99, 0.01]), means, covariances)
    assert pair_depths(components, X, labels)[0, 1] > 100.0


@pytest.mark.parametrize("gap", [2.0, 3.0, 4.0])
def test_looking_at_a_part_of_the_rows_changes_little(gap, monkeypatch):
    X, labels = two_normals(np.random.default_rng(3), 20_000, gap)
    of_part = depth(X, labels)
    monkeypatch.setattr(valley, "MAX_ROWS", 10**9)
    assert of_part == pytest.approx(depth(X, labels), abs=0.35)


def test_samples_grow_with_their_components_to_the_limit():
    X = np.arange(9000.0)[:, None]
    for n_rows in (1, 1999, 2000, 2001, 3999, 4001, 9000):
        rows = valley._Sample.of(X, np.arange(n_rows), np.zeros(1), 1.0, None).rows
        assert len(rows) == min(n_rows, valley.MAX_ROWS)
        assert np.diff(rows[:, 0]).tolist() == pytest.approx(
            [n_rows / len(rows)] * (len(rows) - 1), abs=1.0
        )


def test_components_of_one_row_have_a_finite_depth():
    X = np.array([[0.0, 0.0], [0.0, 50.0], [1.0, 0.0]])
    components = NormalComponents(np.full(3, 1 / 3), X, np.ones((3, 2)))
    depths = pair_depths(components, X, np.arange(3))
    assert set(depths) == {(0, 1), (0, 2), (1, 2)}
    assert np.isfinite(list(depths.values())).all()
    assert depths[0, 2] == 0.0
    assert depths[0, 1] > 100.0


def test_components_of_equal_means_have_no_valley():
    """No direction separates them."""
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [9.0, 9.0], [-9.0, -9.0]])
    for covariances in (np.ones((2, 2)), np.array([np.eye(2)] * 2)):
        components = NormalComponents(np.full(2, 0.5), np.zeros((2, 2)), covariances)
        assert pair_depths(components, X, np.array([0, 0, 1, 1])) == {(0, 1): 0.0}


def test_a_component_without_rows_near_its_mean_has_a_finite_depth():
    """A ring about a point: at the mean of the ring, its density is too small for a double."""
    angle = np.linspace(0.0, 2.0 * np.pi, 200, endpoint=False)
    ring = 100.0 * np.column_stack([np.cos(angle), np.sin(angle)])
    small = np.random.default_rng(4).normal(scale=0.01, size=(200, 2)) + np.array([30.0, 0.0])
    X, labels = np.vstack([ring, small]), np.repeat([0, 1], 200)
    for order in (labels, 1 - labels):
        found = depth(X, order)
        assert np.isfinite(found)
        assert found >= 0.0


def test_missing_cells_are_means():
    X, labels = two_normals(np.random.default_rng(5), 400, 6.0)
    whole, components = depth(X, labels), fitted(X, labels)
    X[::7, 0] = X[3::7, 1] = np.nan
    assert pair_depths(components, X, labels)[0, 1] == pytest.approx(whole, abs=0.5)


def test_rows_far_from_the_origin_have_the_depth_of_rows_near_it():
    X, labels = two_normals(np.random.default_rng(6), 300, 3.5)
    assert depth(X + 1e8, labels) == pytest.approx(depth(X, labels), abs=1e-5)


@pytest.mark.parametrize("full", [False, True])
def test_only_near_neighbours_of_many_components_are_compared(full):
    rng = np.random.default_rng(7)
    means = rng.uniform(0.0, 100.0, size=(100, 2))
    covariances = np.array([np.eye(2)] * 100) if full else np.ones((100, 2))
    components = NormalComponents(np.full(100, 0.01), means, covariances)
    pairs = list(components.neighbours())
    distances = ((means[:, None] - means) ** 2).sum(axis=2)
    for j in range(100):
        nearest = np.argsort(distances[j])[1 : normal_components.MAX_NEIGHBOURS + 1]
        assert {(min(j, k), max(j, k)) for k in nearest} <= set(pairs)
    assert all(j < k for j, k in pairs)
    assert len(set(pairs)) == len(pairs) <= 100 * normal_components.MAX_NEIGHBOURS


def test_log_peaks_are_those_of_the_densities():
    rng = np.random.default_rng(8)
    A = rng.normal(size=(2, 3, 3))
    covariances = A @ np.swapaxes(A, 1, 2)
    weights = np.array([0.3, 0.7])
    components = NormalComponents(weights, rng.normal(size=(2, 3)), covariances)
    exact = [
        np.log(w / np.sqrt(np.linalg.det(S))) for w, S in zip(weights, covariances, strict=True)
    ]
    assert components.log_peaks == pytest.approx(exact, rel=1e-9)
    diagonal = np.array([np.diag(S) for S in covariances])
    apart = NormalComponents(weights, components.means, diagonal)
    whole = NormalComponents(weights, components.means, np.array([np.diag(v) for v in diagonal]))
    assert apart.log_peaks == pytest.approx(whole.log_peaks, rel=1e-12)
    assert apart.discriminant(0, 1) == pytest.approx(whole.discriminant(0, 1), rel=1e-9)
    direction = whole.discriminant(0, 1)
    assert apart.deviation(1, direction) == pytest.approx(whole.deviation(1, direction), rel=1e-12)


@given(st.lists(st.floats(1e-300, 1.0), min_size=2, max_size=12))
def test_the_deepest_valley_is_below_the_lower_of_the_peaks_at_its_sides(density):
    density = np.array(density)
    exact = max(
        np.log(min(density[: i + 1].max(), density[i:].max()) / density[i])
        for i in range(len(density))
    )
    assert valley.deepest_valley(density) == pytest.approx(exact, abs=1e-9)


def test_equal_weights_change_no_depth_and_unequal_ones_move_the_density():
    X, labels = two_normals(np.random.default_rng(10), 300, 3.5)
    plain, components = depth(X, labels), fitted(X, labels)
    found = pair_depths(components, X, labels, np.full(300, 0.01))[0, 1]
    assert found == pytest.approx(plain, rel=1e-9)
    between = np.exp(-np.abs(X.sum(axis=1) / np.sqrt(2.0) - 1.75))
    filled = pair_depths(components, X, labels, between)[0, 1]
    emptied = pair_depths(components, X, labels, 1.0 / between)[0, 1]
    assert filled < plain < emptied


def test_rows_of_no_weight_are_not_there():
    X, labels = two_normals(np.random.default_rng(11), 200, 3.0)
    weights = np.where(np.arange(200) < 120, 1.0, 1e-12)
    components = fitted(X[:120], labels[:120])
    found = pair_depths(components, X, labels, weights)[0, 1]
    exact = pair_depths(components, X[:120], labels[:120])[0, 1]
    assert found == pytest.approx(exact, abs=0.3)  # but for the bandwidth


@pytest.mark.parametrize("full", [False, True])
def test_components_are_at_one_place_if_their_widths_alone_differ(full):
    rng = np.random.default_rng(0)
    labels = np.arange(6000) % 3
    X = rng.normal(size=(6000, 4)) * (1.0 + labels[:, np.newaxis])
    assert fitted(X, labels, full).are_at_one_place()
    X[labels == 0, 0] += 0.5
    assert not fitted(X, labels, full).are_at_one_place()


def planes_that_cross(n_rows, n_columns, thickness=0.05):
    """Rows on two planes of half of the columns each, which cross at their common mean."""
    labels = np.arange(n_rows) % 2
    first = np.arange(n_columns) < n_columns // 2
    deviations = np.where(first == (labels[:, np.newaxis] == 0), 1.0, thickness)
    rows = np.random.default_rng(0).normal(size=(n_rows, n_columns))
    return rows * deviations, labels


@pytest.mark.parametrize("full", [False, True])
def test_components_of_one_mean_do_not_touch_if_no_row_is_between_them(full):
    """The exact log ratio of a row is the sum of r (z^2 / t^2 - z^2) / 2, r = 1 or -1."""
    X, labels = planes_that_cross(400, 16)
    own = np.where((np.arange(16) < 8) == (labels[:, np.newaxis] == 0), 1.0, 0.05)
    exact = (0.5 * X**2 * (own[:, ::-1] ** -2 - own**-2)).sum(axis=1).min()
    assert exact > valley.MAX_LOG_RATIO
    assert depth(X, labels, full) == pytest.approx(exact, rel=0.3)  # the deviations are estimated


@pytest.mark.parametrize("full", [False, True])
def test_few_rows_that_are_far_in_all_columns_make_no_valley(full):
    """Cauchy noise of 50 columns has 434 components in 5,000 rows, 179 of them without others."""
    X = np.random.default_rng(0).normal(size=(2000, 16))
    for n_far, is_apart in [(30, False), (60, True)]:
        labels = (np.arange(2000) < n_far).astype(int)
        far = 100.0 * (X[:n_far] - X[:n_far].mean(axis=0))
        found = depth(np.concatenate([far, X[n_far:] - X[n_far:].mean(axis=0)]), labels, full)
        assert (found > valley.MAX_LOG_RATIO) == is_apart


@pytest.mark.parametrize("full", [False, True])
def test_components_of_one_mean_have_no_valley_if_rows_are_between_them(full):
    assert depth(*planes_that_cross(400, 2), full) < 1.0
