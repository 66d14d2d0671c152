"""What an installed wheel must do, with numpy alone: `python tests/smoke.py`, in seconds.

It runs in every fresh environment that a wheel is tested in; `test_package.py` runs it, too.
"""

import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import numpy as np

import dpmlite
from dpmlite.datasets import load_sensors


def main() -> None:
    """Stop with an error if anything is not as it should be."""
    assert dpmlite.__version__ == version("dpmlite")
    assert dpmlite.implementation == "cython"
    X, states, _ = load_sensors()
    model = dpmlite.MAPDPM(random_state=0, n_jobs=2).fit(X)
    assert model.n_clusters_ == len(set(states)) == 6
    check_joint(dpmlite.MAPDPM(prior="paper", random_state=0).fit(X), X)
    check_families(np.random.default_rng(0))
    check_estimators(X[:100])
    check_file(model, X)
    check_command()
    print(f"dpmlite {dpmlite.__version__} works: Python {sys.version.split()[0]}, numpy", end=" ")
    print(np.__version__)


def check_joint(model: dpmlite.MAPDPM, X: np.ndarray) -> None:
    """The joint that the search kept is that of its labels, from scratch."""
    joint = dpmlite.neg_log_joint(
        X, model.labels_, alpha=1.0, component=model.component_, prior=model.prior_
    )
    assert abs(joint - model.neg_log_joint_) < 1e-9 * abs(joint)


def check_families(rng: np.random.Generator) -> None:
    """Every family tells two far groups apart."""
    sides = np.repeat([0, 1], 40)
    shares = np.array([[0.9, 0.1, 0.0], [0.0, 0.1, 0.9]])[sides]
    tables = {
        "normal-gamma": rng.normal(20.0 * sides[:, None], 1.0, (80, 2)),
        "normal-inverse-wishart": rng.normal(20.0 * sides[:, None], 1.0, (80, 2)),
        "normal-known-variance": rng.normal(20.0 * sides[:, None], 1.0, (80, 2)),
        "dirichlet-multinomial": np.array([rng.multinomial(50, share) for share in shares]),
        "beta-bernoulli": rng.random((80, 12)) < np.array([0.05, 0.95])[sides, None],
        "categorical": np.where(rng.random((80, 20)) < 0.9, sides[:, None], 1 - sides[:, None]),
        "poisson-gamma": rng.poisson(np.array([2.0, 60.0])[sides, None], (80, 3)),
    }
    for component, X in tables.items():
        found = dpmlite.MAPDPM(component=component, random_state=0).fit(X).labels_
        pairs = set(zip(found.tolist(), sides.tolist(), strict=True))
        assert len(pairs) == 2, f"{component}: {pairs}"


def check_estimators(X: np.ndarray) -> None:
    """Every other estimator fits, and predicts its own labels' clusters."""
    for estimator in (
        dpmlite.BayesianHierarchicalClustering(random_state=0),
        dpmlite.CollapsedGibbs(n_samples=20, random_state=0),
        dpmlite.DPMeans(n_clusters=3, random_state=0),
        dpmlite.DPSearch(random_state=0),
        dpmlite.VariationalDPM(random_state=0),
    ):
        labels = estimator.fit(X).predict(X)
        assert np.mean(labels == estimator.labels_) > 0.9, type(estimator).__name__


def check_file(model: dpmlite.MAPDPM, X: np.ndarray) -> None:
    """A model is the same after it was saved."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.npz"
        model.save(path)
        again = dpmlite.MAPDPM.load(path)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def check_command() -> None:
    """The command runs, and tells its version."""
    command = [sys.executable, "-P", "-m", "dpmlite", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["dpmlite", dpmlite.__version__]


if __name__ == "__main__":
    main()
