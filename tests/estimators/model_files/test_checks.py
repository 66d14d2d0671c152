"""What `load` refuses: each rule of a file's contents, with a new checksum of what was changed."""

import copy
import json

import numpy as np
import pytest
from cases import needs_kernels
from saved_models import all_models

from dpmlite import MAPDPM, CollapsedGibbs
from dpmlite.estimators.model_files.archive import CHECKSUM, checksum, read_archive, write_archive

pytestmark = needs_kernels


@pytest.fixture(scope="module")
def models():
    return all_models()


@pytest.fixture
def changed(models, tmp_path):
    """A function that saves a model, changes what its file says, and loads it."""

    def changed(name, change):
        model, _ = models[name]
        path = tmp_path / "model.npz"
        model.save(path)
        header, arrays = read_archive(path.read_bytes())

        def array(attribute, *keys):
            """The array that an attribute, or a part of it, refers to."""
            value = header["fitted"][attribute]
            for key in keys:
                value = value["dict"][key]
            return arrays[value["array"]]

        change(header["fitted"], array)
        header[CHECKSUM] = checksum(header, arrays)
        with open(path, "wb") as file:
            write_archive(file, header, arrays)
        return type(model).load(path)

    return changed


def setting(name, value):
    return lambda fitted, array: fitted.update({name: value})


def putting(value, *names, at=0):
    """Put a value into an array of the file."""
    return lambda fitted, array: array(*names).flat.__setitem__(at, value)


def without(name):
    return lambda fitted, array: fitted.pop(name)


RULES = {
    "an unknown attribute": ("paper", setting("predict", 1), "MAPDPM has no 'predict'"),
    "a missing one": ("paper", without("alpha_"), "it has no alpha_"),
    "alpha 0": ("paper", setting("alpha_", 0.0), "alpha_ must be a number from 1e-300"),
    "alpha NaN": ("paper", setting("alpha_", float("nan")), "alpha_ must be a number from"),
    "alpha infinite": ("paper", setting("alpha_", float("inf")), "alpha_ must be a number from"),
    "a family that is not": ("paper", setting("component_", "x"), "component_ must be one of"),
    "missing cells": ("counts", setting("allow_missing_", True), "allow_missing_ must be False"),
    "columns": ("paper", setting("n_features_in_", 3), "prior m0 must have shape"),
    "more columns": ("paper", setting("n_features_in_", 10**15), "statistics_ of 10+ columns"),
    "a prior": ("paper", putting(-1.0, "prior_", "b0"), "prior b0 must be positive"),
    "a weight": ("paper", putting(0.0, "statistics_"), "statistics_ must have a weight above 0"),
    "a tiny weight": (
        "known variance",
        putting(5e-324, "statistics_"),
        "weights of clusters must be at least",
    ),
    "NaN": ("paper", putting(np.nan, "statistics_"), "statistics_ must be from"),
    "a rate below 1": ("paper", putting(0.5, "statistics_", at=3), "statistics must have rates"),
    "squares": ("paper", putting(1e5, "statistics_", at=1), "scatter that is not negative"),
    "counts": ("counts", putting(-1.0, "statistics_", at=1), "statistics must have counts from 0"),
    "more than can be": ("counts", putting(1e20, "statistics_", at=1), "counts of at most 1099511"),
    "cells": ("bits", putting(99.0, "statistics_", at=1), "cells of each cluster's rows"),
    "pivots": ("full", putting(7e5, "statistics_", at=3), "the pivots of their squares"),
    "a full scatter": ("full", putting(-7.0, "statistics_", at=5), "scatter that is not negative"),
    "a spread": ("known variance", putting(-1.0, "statistics_", at=3), "squares from 0"),
    "levels": (
        "mixed",
        putting("Ulm", "levels_", "city", at=slice(None)),
        "array of different values",
    ),
    "labels": ("paper", putting(99, "labels_"), "labels_ must be from -1 to"),
    "labels of components": ("joined", putting(1, "component_labels_", at=slice(None)), "labels_"),
    "rows of clusters": ("paper", putting(99, "counts_"), "counts_ must add up"),
    "rows of components": ("paper", putting(-1, "component_counts_"), "component_counts_ must be"),
    "clusters": ("joined", putting(0, "cluster_of_component_", at=slice(None)), "must make"),
    "a tree of components": ("joined", putting(0.5, "cluster_tree_"), "merge each node once"),
    "moments": ("paper", putting(-1.0, "moments_", "cells"), "moments_ cells must be from 0"),
    "first rows": (
        "stream",
        putting(np.inf, "first_rows_", "rows", "values"),
        "first_rows_ rows values must be from",
    ),
    "a missing first cell": (
        "stream",
        putting(np.nan, "first_rows_", "rows", "values"),
        "has a cell that 'normal-gamma' does not take: nan",
    ),
    "half a word": (
        "counts stream",
        putting(0.5, "first_rows_", "rows", "data"),
        "has a cell that 'dirichlet-multinomial' does not take: 0.5",
    ),
    "a level that is not": (
        "mixed stream",
        putting(9.0, "first_rows_", "rows", "values", at=4),
        "has a cell that 'mixed' does not take: 9",
    ),
    "indptr": (
        "counts stream",
        putting(10**9, "first_rows_", "rows", "indptr", at=3),
        "X.indptr must have",
    ),
    "indices": (
        "counts stream",
        putting(99, "first_rows_", "rows", "indices"),
        "first_rows_ rows indices must be from 0 to 3",
    ),
    "children": ("tree", putting(0, "children_", at=slice(None)), "merge each node once"),
    "counts of nodes": ("tree", putting(3.0, "node_counts_"), "node_counts_ must add up"),
    "leaves": ("tree", putting(5, "leaves_", at=0), "leaves_ must have all of"),
    "training rows": ("tree", putting(5, "training_rows_", "shape"), "values must have shape"),
    "samples": ("samples", putting(99, "labels_samples_"), "labels_samples_ must be from 0 to 35"),
}


@pytest.mark.parametrize("rule", RULES)
def test_what_no_model_has_is_refused(changed, rule):
    name, change, message = RULES[rule]
    with pytest.raises(ValueError, match=f"or it is damaged: .*{message}"):
        changed(name, change)


def test_what_is_not_changed_is_loaded(changed, models):
    for name in models:
        changed(name, lambda fitted, array: None)


def test_arrays_may_lie_in_any_order(models, tmp_path):
    path = tmp_path / "model.npz"
    for name, (model, X) in models.items():
        model.save(path)
        header, arrays = read_archive(path.read_bytes())
        with open(path, "wb") as file:
            write_archive(file, header, {key: np.asfortranarray(arrays[key]) for key in arrays})
        loaded = type(model).load(path)
        np.testing.assert_array_equal(loaded.score_samples(X), model.score_samples(X), name)


def test_a_chain_without_samples_is_refused(models, tmp_path):
    model = copy.deepcopy(models["samples"][0])
    for name in [name for name in vars(model) if name.endswith("_samples_")]:
        setattr(model, name, getattr(model, name)[:0])
    model.save(tmp_path / "model.npz")
    with pytest.raises(ValueError, match=r"it has no samples$"):
        CollapsedGibbs.load(tmp_path / "model.npz")


def test_files_of_version_1_are_read(models, tmp_path):
    """They had no checksum, and all attributes."""
    for name, (model, X) in models.items():
        model.save(tmp_path / "model.npz")
        header, arrays = read_archive((tmp_path / "model.npz").read_bytes())
        del header[CHECKSUM]
        header["version"] = 1
        header["fitted"]["means_"] = {"array": "means"}
        old = {"header": np.array(json.dumps(header)), "means": model.means_, **arrays}
        np.savez(tmp_path / "old.npz", **old)
        loaded = type(model).load(tmp_path / "old.npz")
        np.testing.assert_array_equal(loaded.means_, model.means_, err_msg=name)
        np.testing.assert_array_equal(loaded.score_samples(X), model.score_samples(X))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": -1.0}, "alpha must be positive"),
        ({"component": {"array": "extra"}}, "component must be one of"),
        ({"prior": {"pairs": [[1, 2]]}}, "a value is a bare list"),
        ({"alphas": {"array": "nowhere"}}, "a value of kind 'array' is not there"),
        ({"k": 3}, "unexpected keyword argument 'k'"),
    ],
)
def test_parameters_are_checked(models, tmp_path, parameters, message):
    path = tmp_path / "model.npz"
    models["paper"][0].save(path)
    header, arrays = read_archive(path.read_bytes())
    header["parameters"] |= parameters
    if {"array": "extra"} in parameters.values():
        arrays["extra"] = np.zeros(3)
    header[CHECKSUM] = checksum(header, arrays)
    with open(path, "wb") as file:
        write_archive(file, header, arrays)
    with pytest.raises(ValueError, match=message):
        MAPDPM.load(path)
