"""A few hundred damaged files of models: none ends the process, hangs, or is used."""

import copy

import numpy as np
import processes
import pytest
from cases import needs_kernels
from saved_models import all_models

N_MUTANTS, N_SECONDS = 400, 60.0

pytestmark = needs_kernels


@pytest.fixture(scope="module")
def models():
    return all_models()


def test_damaged_files_do_no_harm():
    found = processes.run("model_files", 0, N_MUTANTS, N_SECONDS)
    assert found.failures == []
    assert found.n_seeds > 0
    assert found.ends["refused"] > 0


def test_a_loaded_model_is_the_saved_one(models, tmp_path):
    for name, (model, X) in models.items():
        model.save(tmp_path / "model.npz")
        loaded = type(model).load(tmp_path / "model.npz")
        assert_same(vars(loaded), vars(model), name)
        np.testing.assert_array_equal(loaded.score_samples(X), model.score_samples(X))


def test_a_fitted_attribute_that_files_do_not_know_is_an_error(models, tmp_path):
    """`save` does not leave it out: a model of each estimator with one attribute more."""
    for name in ("default", "prefixes", "tree", "samples"):
        model = copy.deepcopy(models[name][0])
        model.forgotten_ = 1
        with pytest.raises(ValueError, match=f"attributes, got {type(model).__name__}.forgotten_$"):
            model.save(tmp_path / "model.npz")
        assert not (tmp_path / "model.npz").exists()


def assert_same(one, other, name):
    """Values of files are equal to the bit, whatever kind of dict, list or number they are in."""
    if isinstance(other, dict):
        assert one.keys() == other.keys(), name
        for key in other:
            assert_same(one[key], other[key], f"{name} {key}")
    else:
        np.testing.assert_array_equal(one, other, err_msg=name)
