"""Pictures of a posterior: its probabilities, and which rows they are of."""

import numpy as np
import pytest

from dpmlite import MAPDPM, CollapsedGibbs, NotFittedError, exact_posterior
from dpmlite.plotting import plot_co_clustering, plot_n_clusters

pytest.importorskip("matplotlib")

X = np.array([[0.0], [9.0], [0.1], [9.2], [0.2], [4.0]])
PRIOR = {"m0": 4.0, "c0": 0.05, "a0": 2.0, "b0": 0.1}


@pytest.fixture
def chain():
    model = CollapsedGibbs(component="normal-gamma", prior=PRIOR, n_samples=50, random_state=0)
    return model.fit(X)


@pytest.fixture
def exact():
    return exact_posterior(X, alpha=1.0, prior=PRIOR)


def bars(figure):
    """The height of each bar by the number that it stands at."""
    (axes,) = figure.axes
    return {round(bar.get_x() + bar.get_width() / 2, 9): bar.get_height() for bar in axes.patches}


def test_bars_are_probabilities_of_whole_numbers(chain, exact):
    for known, probability in (
        (chain, dict(enumerate(chain.n_clusters_proba_))),
        (exact, dict(enumerate(exact.n_clusters_proba, start=1))),
    ):
        figure = plot_n_clusters(known)
        shown = bars(figure)
        assert shown == pytest.approx({k: probability[k] for k in shown})
        assert sum(shown.values()) > 0.99
        figure.draw_without_rendering()
        assert all(tick == int(tick) for tick in figure.axes[0].get_xticks())
        best = max(probability, key=probability.get)
        title = figure.axes[0].get_title(loc="left")
        assert title == f"most probable: {best}, {probability[best]:.0%}"


def test_rows_of_the_matrix_are_in_the_order_of_clusters(chain, exact, tmp_path):
    for known, labels, together in (
        (chain, chain.labels_, chain.co_clustering()),
        (exact, exact.labels, exact.co_clustering),
    ):
        figure = plot_co_clustering(known, path=tmp_path / "a.png")
        axes, bar = figure.axes
        order = np.argsort(labels, kind="stable")
        np.testing.assert_array_equal(axes.images[0].get_array(), together[order][:, order])
        n_clusters = labels.max() + 1
        assert len(axes.lines) == 2 * (n_clusters - 1)
        assert [text.get_text() for text in axes.get_xticklabels()] == [
            *map(str, range(n_clusters))
        ]
        assert bar.get_ylabel() == "probability to be together"
        assert (tmp_path / "a.png").stat().st_size > 0


def test_pictures_in_axes_that_are_there(exact):
    from matplotlib.figure import Figure

    figure = Figure()
    one, other = figure.subplots(1, 2)
    assert plot_n_clusters(exact, ax=one) is figure
    assert plot_co_clustering(exact, ax=other) is figure
    assert one.patches
    assert other.images


@pytest.mark.parametrize("picture", [plot_n_clusters, plot_co_clustering])
def test_what_is_no_posterior_is_an_error(picture):
    with pytest.raises(TypeError, match="must be a CollapsedGibbs or an ExactPosterior, got a MAP"):
        picture(MAPDPM())
    with pytest.raises(NotFittedError, match="this CollapsedGibbs is not fitted"):
        picture(CollapsedGibbs())
