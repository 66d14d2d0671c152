"""What the figures of the notes on Gibbs sampling, and the galaxies, must show."""

import gibbs_notes
import numpy as np
import pytest
from cases import needs_kernels
from gibbs_notes import cluster_curves, galaxies, new_cluster_curve, quakes


@needs_kernels
def test_figure_2_is_one_density_of_some_27_clusters():
    found = quakes(1, gibbs_notes.STEPS - 1)
    curves = np.array([*cluster_curves(found), new_cluster_curve(found)])
    np.testing.assert_allclose(curves.sum(axis=0), found.density, rtol=1e-9)
    assert 15 <= found.model.n_clusters_samples_[0] <= 40  # the notes print 27
    step = found.grid[1] - found.grid[0]
    assert found.density.sum() * step == pytest.approx(1.0, abs=0.01)


@needs_kernels
def test_the_depths_have_two_groups():
    found = quakes(300, 200)
    modes = found.modes()
    assert ((modes > 30.0) & (modes < 150.0)).any()
    assert ((modes > 500.0) & (modes < 650.0)).any()
    trough = found.density[(found.grid > 300.0) & (found.grid < 450.0)].min()
    assert trough < 0.3 * found.density.max()


@needs_kernels
def test_the_galaxies_have_the_well_known_modes():
    found = galaxies()
    modes = found.modes()
    assert 3 <= len(modes) <= 6
    for low, high in ((8.0, 11.0), (19.0, 24.0), (31.0, 35.0)):
        assert ((modes > low) & (modes < high)).any()
    proba = found.model.n_clusters_proba_
    assert proba[:3].sum() < 0.05
    assert proba.argmax() in range(3, 9)
