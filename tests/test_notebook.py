"""Pictures in a notebook: each shows as the last line of its cell, without any magic."""

import warnings
from base64 import b64decode

import pytest
from cases import needs_kernels

pytest.importorskip("matplotlib")
nbclient = pytest.importorskip("nbclient", reason="the extra `notebook` is not installed")
pytest.importorskip("ipykernel", reason="the extra `notebook` is not installed")
nbformat = pytest.importorskip("nbformat")

pytestmark = needs_kernels

PNG = b"\x89PNG\r\n\x1a\n"

SETUP = """
from dpmlite import MAPDPM, BayesianHierarchicalClustering, CollapsedGibbs
from dpmlite.datasets import load_sensors
from dpmlite.plotting import *

X, states, columns = load_sensors()
model = MAPDPM(random_state=0).fit(X)
one = MAPDPM(random_state=0).fit(X[:, :1])
tree = BayesianHierarchicalClustering().fit(X[:40])
chain = CollapsedGibbs(n_samples=20, random_state=0).fit(X[:40])
alphas = MAPDPM(prior="paper", alpha="nll", alphas=[0.1, 1.0], random_state=0).fit(X)
"""

CELLS = [
    "plot_clusters(model, X, columns=columns)",
    "plot_clusters(X, states)",
    "plot_profiles(model)",
    "plot_density(one, X[:, :1])",
    "plot_dendrogram(tree)",
    "plot_cluster_tree(model)",
    "plot_n_clusters(chain)",
    "plot_co_clustering(chain)",
    "plot_trace(model)",
    "plot_alpha(alphas)",
    "import matplotlib.pyplot as plt\nplot_clusters(model, X)",  # beside figures of pyplot
    "figure, axes = plt.subplots(1, 2)\nplot_density(one, X[:, :1], ax=axes[0]);",
]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """The outputs of each cell of a notebook, which was run in another folder."""
    cells = [nbformat.v4.new_code_cell(code) for code in [SETUP, *CELLS, "model"]]
    notebook = nbformat.v4.new_notebook(cells=cells)
    folder = {"metadata": {"path": str(tmp_path_factory.mktemp("notebook"))}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of Jupyter
        nbclient.NotebookClient(
            notebook, timeout=300, kernel_name="python3", resources=folder
        ).execute()
    return [cell.outputs for cell in notebook.cells]


def test_nothing_is_printed_before_a_picture(outputs):
    assert outputs[0] == []


@pytest.mark.parametrize("number", range(1, len(CELLS) + 1))
def test_a_picture_shows_once(outputs, number):
    pictures = [output.data for output in outputs[number] if "image/png" in output.get("data", {})]
    assert len(pictures) == 1
    picture = b64decode(pictures[0]["image/png"])
    assert picture.startswith(PNG)
    assert len(picture) > 5000  # an empty figure is smaller


def test_a_fitted_model_shows_its_clusters(outputs):
    (output,) = outputs[-1]
    assert "6 clusters of 600 rows" in output.data["text/html"]
