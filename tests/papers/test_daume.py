"""What the experiments of Daumé (2007) must show; real_tables.py says what those on tables need."""

import daume_figure_2
import daume_mnist
import daume_nips
import numpy as np
import pytest
from cases import needs_kernels

pytestmark = needs_kernels


@pytest.mark.slow
def test_figure_2_on_a_few_tables():
    results, least = daume_figure_2.experiment(sizes=(6, 12, 25), n_tables=3, n_sweeps=50)
    curves = daume_figure_2.means(results, least)
    for n_rows in (6, 12):
        for name in ("tight", "trivial"):
            assert curves[name][n_rows][0] == pytest.approx(1.0, abs=1e-9)
        assert curves["tight"][n_rows][3] < curves["trivial"][n_rows][3]
        assert curves["inadmissible"][n_rows][3] < curves["trivial"][n_rows][3]
        assert curves["inadmissible, beam 10"][n_rows][0] < 1.001
    for name, curve in curves.items():
        assert curve[12][0] >= 1.0 - 1e-9, name
        assert curve[6][1] <= 1.0 + 1e-9, name
    assert curves["inadmissible, beam 10"][25][0] < 1.01


def test_pairs_are_scored_as_the_paper_says():
    truth, labels = np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])
    assert daume_figure_2.pair_f_score(truth, labels) == pytest.approx((1 / 2 * 1 / 3) ** 0.5)
    assert daume_figure_2.pair_f_score(np.arange(3), np.arange(3)) == 1.0


@pytest.mark.paper
def test_papers_of_nips():
    X, words = daume_nips.load()
    assert X.shape == (1740, 1000)
    found, seconds = daume_nips.search(X, refine=False)
    assert seconds < 1.0
    assert 10 <= found.n_clusters_ <= 20
    for prior_score in ("partition", "sizes"):
        joints = daume_nips.orders(X, 1, prior_score)
        assert joints["ascending"] < np.mean(joints["random"])
        assert joints["ascending"] < joints["descending"]
    for order in ("ascending", "descending"):
        ours = joints[order] - daume_nips.log_coefficients(X)
        assert ours == pytest.approx(daume_nips.PAPER[order], rel=0.01)
    refined, _ = daume_nips.search(X, random_state=0)
    for split_merge in daume_nips.SAMPLERS.values():
        assert refined.neg_log_joint_ <= daume_nips.sampled(X, split_merge, 4.0)[0]
    tables = daume_nips.indicative_words(X, found.labels_, words)
    together = [{"policy", "reinforcement"}, {"speech", "hmm"}, {"chip", "analog"}]
    for pair in together:
        assert any(pair <= set(table) for table in tables), pair


@pytest.mark.paper
def test_images_of_digits():
    rows = daume_mnist.whitened(daume_mnist.images())
    _, seconds = daume_mnist.search(rows, beam=1, refine=False)
    assert len(rows) / seconds > 60_000
    for n_rows in (3000, 12_000):
        joints = {
            prior_score: daume_mnist.search(
                rows[:n_rows], beam=1, refine=False, prior_score=prior_score
            )[0].neg_log_joint_
            for prior_score in ("partition", "sizes")
        }
        assert joints["sizes"] < 0.99 * joints["partition"]
    part = rows[:12_000]
    wide, seconds = daume_mnist.search(part, beam=100, refine=False)
    assert len(part) / seconds > 2_000
    narrow, _ = daume_mnist.search(part, beam=1, refine=False)
    assert wide.neg_log_joint_ < narrow.neg_log_joint_
    part = rows[:3000]
    refined, _ = daume_mnist.search(part, beam=1, random_state=0)
    assert refined.neg_log_joint_ <= daume_mnist.gibbs(part)[0]
