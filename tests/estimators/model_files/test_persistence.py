"""Models in files: what is saved is loaded, and no other file is."""

import json
import os
import threading

import numpy as np
import pytest
from cases import blobs

from dpmlite import MAPDPM


@pytest.fixture(scope="module")
def fitted():
    X, _ = blobs(n_rows=90, seed=3)
    return MAPDPM(prior="paper", random_state=0).fit(X), X


@pytest.fixture
def path(fitted, tmp_path):
    """A file with the fitted model."""
    fitted[0].save(tmp_path / "model.npz")
    return tmp_path / "model.npz"


def test_a_loaded_model_is_the_saved_one(fitted, tmp_path):
    model, X = fitted
    path = tmp_path / "model"
    model.save(path)
    model.save(bytes(path))  # replaces the first
    loaded = MAPDPM.load(path)
    assert [p.name for p in tmp_path.iterdir()] == ["model"]
    assert loaded.get_params() == model.get_params()
    assert vars(loaded).keys() == vars(model).keys()
    np.testing.assert_array_equal(loaded.score_samples(X), model.score_samples(X))
    np.testing.assert_array_equal(loaded.labels_, model.labels_)
    assert loaded.fit(X).neg_log_joint_ == model.neg_log_joint_


def test_saving_keeps_the_permissions_of_an_older_file(fitted, tmp_path):
    model, _ = fitted
    path = tmp_path / "model"
    model.save(path)
    path.chmod(0o600)
    model.save(path)
    assert path.stat().st_mode & 0o777 == 0o600


def test_errors_of_saving_name_the_file(fitted, tmp_path):
    model, _ = fitted
    with pytest.raises(IsADirectoryError, match="model/"):
        model.save(f"{tmp_path}/model/")
    long = tmp_path / ("n" * 250)
    model.save(long)
    assert [p.name for p in tmp_path.iterdir()] == [long.name]


def test_save_and_load_of_parameters_and_names(tmp_path):
    pd = pytest.importorskip("pandas")
    X, labels = blobs(n_rows=30)
    frame = pd.DataFrame(X, columns=["a", "b"])
    prior = {"m0": [0.0, 1.0], "c0": 0.5}
    model = MAPDPM(prior=prior, init=labels, random_state=np.int64(3)).fit(frame)
    model.save(tmp_path / "m.npz")
    loaded = MAPDPM.load(tmp_path / "m.npz")
    assert loaded.feature_names_in_.tolist() == ["a", "b"]
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))
    np.testing.assert_array_equal(loaded.prior["m0"], prior["m0"])
    np.testing.assert_array_equal(loaded.init, labels)


def test_array_likes_are_saved_as_arrays(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(blobs(n_rows=30)[0], columns=["a", "b"])
    prior = {"b0": frame.var(axis=0) / 25}
    start = pd.Series(np.zeros(30, dtype=int), index=frame.index + 7)
    MAPDPM(prior=prior, init=start, alphas=range(1, 3)).fit(frame).save(tmp_path / "m.npz")
    loaded = MAPDPM.load(tmp_path / "m.npz")
    np.testing.assert_array_equal(loaded.prior["b0"], prior["b0"])
    np.testing.assert_array_equal(loaded.init, start)
    np.testing.assert_array_equal(loaded.alphas, [1, 2])


def test_a_file_with_a_changed_byte_is_refused_or_is_the_model(fitted, path):
    model, _ = fitted
    whole = path.read_bytes()
    for position in range(0, len(whole), len(whole) // 60):
        broken = bytearray(whole)
        broken[position] ^= 0xFF
        path.write_bytes(bytes(broken))
        try:
            loaded = MAPDPM.load(path)
        except ValueError as error:
            assert "is not a dpmlite model, or it is damaged" in str(error)  # noqa: PT017
        else:  # a byte that zip does not use, such as a time stamp
            np.testing.assert_array_equal(loaded.statistics_, model.statistics_)


def test_a_part_of_a_file_and_files_of_other_kinds_are_refused(path):
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], b"", b"label,x\n1,2\n"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="is not a dpmlite model"):
            MAPDPM.load(path)
    np.savez(path, x=np.zeros(3))
    with pytest.raises(ValueError, match="is not a dpmlite model"):
        MAPDPM.load(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "its header says so"),
        ({"version": 99}, "format version 99, this dpmlite reads versions up to 2"),
        ({"version": 2}, "or it is damaged: its checksum is not that of its contents"),
        ({"version": -1}, "is damaged: format version -1"),
        ({"estimator": "DPMeans"}, "holds a DPMeans, not a MAPDPM"),
        ({}, "or it is damaged: it has no parameters"),
        ({"parameters": {"k": 3}, "fitted": {}}, "or it is damaged: TypeError"),
        ({"parameters": {}, "fitted": {}}, "or it is damaged: it has no allow_missing_"),
    ],
)
def test_a_header_that_is_not_of_a_model_is_refused(tmp_path, change, message):
    path = tmp_path / "model.npz"
    header = {"format": "dpmlite model", "version": 1, "estimator": "MAPDPM", **change}
    np.savez(path, header=np.array(json.dumps(header)))
    with pytest.raises(ValueError, match=message):
        MAPDPM.load(path)


def test_errors_of_missing_files_and_folders_name_them(fitted, tmp_path):
    with pytest.raises(FileNotFoundError):
        MAPDPM.load(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match=r"nowhere.model\.npz'$"):
        fitted[0].save(tmp_path / "nowhere" / "model.npz")


def test_what_cannot_be_saved_leaves_the_old_file(fitted, tmp_path):
    model, X = fitted
    path = tmp_path / "model.npz"
    model.save(path)
    before = path.read_bytes()
    other = MAPDPM(prior="paper", random_state=np.random.default_rng(0)).fit(X)
    with pytest.raises(ValueError, match="parameter random_state cannot be saved as plain data"):
        other.save(path)
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_threads_may_save_to_one_file(fitted, tmp_path):
    model, _ = fitted
    path, failed = tmp_path / "model.npz", []

    def save_and_load():
        try:
            for _ in range(30):
                model.save(path)
                MAPDPM.load(path)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=save_and_load) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_is_written_to(fitted, tmp_path):
    model, X = fitted
    pipe, copy = tmp_path / "pipe", tmp_path / "copy.npz"
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: copy.write_bytes(pipe.read_bytes()))
    reader.start()
    model.save(pipe)
    reader.join()
    assert pipe.is_fifo()
    np.testing.assert_array_equal(MAPDPM.load(copy).predict(X), model.predict(X))
