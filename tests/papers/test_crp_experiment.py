"""What holds of Tables 1, 4 and 5 and of figures 2 to 4: in five draws, and in the paper's hundred.

    pytest -m slow tests/papers
    pytest -m paper tests/papers

run the five, and the hundred.
"""

from functools import cache

import crp_experiment
import numpy as np
import pytest
from cases import needs_kernels
from crp_experiment import (
    LENGTH_AS_PRINTED,
    MEASURES,
    METHODS,
    MODEL,
    N_DRAWS,
    PAPER,
    draw,
    predict,
    run,
    table,
)

from dpmlite import MAPDPM

pytestmark = needs_kernels

SCORES = ("NMI sum", "NMI max", "AMI", "test NMI sum", "test NMI max", "test AMI", "test NLL")

#: Mean and standard deviation; Table 1 has other numbers.
EMPTY_IN_TABLE_4 = (14.0, 14.0)

DRAWS = (pytest.param(5, marks=pytest.mark.slow), pytest.param(100, marks=pytest.mark.paper))


@pytest.fixture(scope="module", params=DRAWS)
def experiment(request):
    return run(request.param)


@cache
def program_in_all_draws():
    return run(N_DRAWS, ("program",))


def printed(method, name):
    """The mean and the standard deviation in a cell of the paper."""
    mean, brackets = PAPER[name][method != "Gibbs"].split()
    return float(mean), 0.5 * float(brackets.strip("()"))


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("method", ["Gibbs", "program", "unreinforced", "MAPDPM"])
def test_the_paper_s_scores_hold(experiment, method, name):
    """Within three standard errors of the difference of two means, and rounding."""
    values = experiment.of(method, name)
    mean, deviation = printed(method, name)
    error = np.hypot(values.std(ddof=1) / np.sqrt(len(values)), deviation / 10.0)
    assert abs(values.mean() - mean) < 3.0 * error + 0.005


@pytest.mark.paper
@pytest.mark.parametrize("name", [*SCORES, "iterations", "Delta K", "empty clusters"])
def test_the_rules_of_the_authors_program_give_every_cell_of_map_dpm(name):
    """Within two standard errors of the paper's mean over its hundred draws, and rounding."""
    mean, deviation = printed("program", name)
    if name == "empty clusters":
        mean, deviation = EMPTY_IN_TABLE_4
    digits = 0.5 * 10.0 ** -MEASURES[name]
    ours = program_in_all_draws().of("program", name).mean()
    assert abs(ours - mean) < 2.0 * deviation / np.sqrt(N_DRAWS) + digits


def test_algorithm_1_as_printed_stays_near_one_cluster(experiment):
    assert experiment.of("Algorithm 1", "NMI sum").mean() < 0.3
    assert experiment.of("Algorithm 1", "Delta K").mean() < -8.0
    assert experiment.of("Algorithm 1", "iterations").mean() < 10.0


def test_the_default_is_better_than_the_truth_and_than_sweeps(experiment):
    default = experiment.of("MAPDPM", "joint - joint of truth")
    assert (default <= 0.0).all()
    assert default.mean() < -150.0
    for method in ("Algorithm 1", "sweeps, random", "sweeps, singletons"):
        other = experiment.of(method, "joint - joint of truth")
        assert (default <= other + 1e-6).mean() >= 0.95
    ten = experiment.of("MAPDPM, n_init=10", "joint - joint of truth")
    assert ten.mean() <= default.mean() + 1e-6
    assert experiment.of("MAPDPM, n_init=10", "NMI sum").mean() > 0.7


def test_map_finds_too_few_clusters_and_gibbs_does_not(experiment):
    assert -10.0 < experiment.of("MAPDPM", "Delta K").mean() < -5.0
    assert abs(experiment.of("Gibbs", "Delta K").mean()) < 2.0


def test_the_paper_s_chains_are_those_of_a_smaller_margin(experiment):
    """The margin that is printed, 0.1, would end them after some tens of sweeps."""
    mean = experiment.of("Gibbs", "iterations").mean()
    assert 937 <= mean < 10_000
    assert experiment.of("Gibbs", LENGTH_AS_PRINTED).mean() < 200.0
    # The paper's 5,900 clusters in 2,020 iterations.
    assert 2.0 < experiment.of("Gibbs", "empty clusters").mean() / mean < 4.0


def test_small_clusters_are_lost_by_map_alone(experiment):
    """Figures 3 and 4: ranks up to which N_k / N is not 0."""
    for q in (0.05, 0.5, 0.95):
        truth, found, sampled = (
            np.count_nonzero(np.quantile(experiment.sizes[name], q, axis=0, method="inverted_cdf"))
            for name in ("truth", "MAPDPM", "Gibbs")
        )
        assert found < 0.8 * truth
        assert abs(sampled - truth) <= 0.3 * truth


def test_the_tables_and_figures_are_made(experiment, tmp_path):
    text = table(experiment, METHODS)
    print(text)
    for theirs in PAPER.values():
        assert theirs[0] in text
        assert theirs[1] in text
    crp_experiment.draw_figure_2(tmp_path)
    crp_experiment.draw_sizes(experiment, tmp_path, "figure-4", [0.05, 0.95])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["crp-figure-2.png", "figure-4.png"]


def test_predictions_are_those_of_the_estimator():
    """The experiment computes them from labels alone, so that samples have them too."""
    drawn = draw(7)  # seven of its rows are in no cluster of the table
    model = MAPDPM(**MODEL, random_state=0).fit(drawn.X)
    predicted, nll = predict(drawn, model.labels_)
    np.testing.assert_array_equal(predicted, model.predict(drawn.X_test))
    assert (predicted == -1).any()
    assert nll == pytest.approx(-model.score(drawn.X_test), rel=1e-12)
