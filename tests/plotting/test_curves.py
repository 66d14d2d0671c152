"""Pictures of a fit: the objectives of its steps, and the scores of candidates for alpha."""

import numpy as np
import pytest
from cases import blobs

from dpmlite import (
    MAPDPM,
    BayesianHierarchicalClustering,
    CollapsedGibbs,
    DPMeans,
    DPSearch,
    NotFittedError,
    VariationalDPM,
)
from dpmlite.plotting import plot_alpha, plot_trace

pytest.importorskip("matplotlib")

X = blobs(n_rows=60)[0]


def line(figure):
    (axes,) = figure.axes
    return axes.lines[0].get_ydata()


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (MAPDPM(prior="paper", random_state=0), "neg_log_joint_trace_"),
        (DPSearch(prior="paper", random_state=0), "neg_log_joint_trace_"),
        (CollapsedGibbs(prior="paper", n_samples=9, random_state=0), "neg_log_joint_samples_"),
        (DPMeans(n_clusters=3, random_state=0), "objective_trace_"),
    ],
)
def test_a_trace_is_what_each_step_is_above_the_best(model, name):
    trace = getattr(model.fit(X), name)
    np.testing.assert_allclose(line(plot_trace(model)), trace - trace.min())


def test_a_trace_of_bounds_is_what_they_are_below_the_best(tmp_path):
    model = VariationalDPM(prior="paper", n_components=4, random_state=0).fit(X)
    figure = plot_trace(model, path=tmp_path / "a.png")
    np.testing.assert_allclose(line(figure), model.lower_bound_ - model.lower_bound_trace_)
    assert (tmp_path / "a.png").stat().st_size > 0


@pytest.mark.parametrize("alpha", ["nll", "loo", "cv"])
def test_alpha_has_its_scores_and_the_one_that_was_chosen(alpha):
    model = MAPDPM(prior="paper", alpha=alpha, alphas=[0.1, 1.0, 10.0], random_state=0).fit(X)
    (axes,) = plot_alpha(model).axes
    scores, chosen = axes.lines
    np.testing.assert_array_equal(scores.get_xdata(), [0.1, 1.0, 10.0])
    np.testing.assert_array_equal(scores.get_ydata(), model.alpha_scores_)
    assert set(chosen.get_xdata()) == {model.alpha_}
    assert ("held-out" in axes.get_ylabel()) == (alpha == "cv")


def test_models_without_the_curve_are_an_error():
    for picture, kinds in ((plot_trace, "an estimator"), (plot_alpha, "a MAPDPM or a DPSearch")):
        with pytest.raises(TypeError, match=f"model must be {kinds}, got a list"):
            picture([])
        with pytest.raises(NotFittedError, match="this MAPDPM is not fitted"):
            picture(MAPDPM())
    with pytest.raises(NotFittedError, match="this MAPDPM is not fitted"):
        plot_alpha(MAPDPM(prior="paper").fit(X))
    tree = BayesianHierarchicalClustering(prior="paper").fit(X)
    with pytest.raises(TypeError, match="must keep its objectives, got a BayesianHier"):
        plot_trace(tree)
