"""Pictures: what is in them, not how they look."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from cases import needs_kernels
from pictures import PICTURES, likeness

from dpmlite import (
    MAPDPM,
    BayesianHierarchicalClustering,
    CollapsedGibbs,
    DPSearch,
    NotFittedError,
    VariationalDPM,
)
from dpmlite.datasets import load_sensors, planted_gaussians
from dpmlite.plotting import (
    COLOURS,
    MARKERS,
    plot_clusters,
    plot_dendrogram,
    plot_density,
    plot_profiles,
)
from dpmlite.plotting.pairs import Scale
from dpmlite.plotting.style import MAX_LEGEND_ENTRIES

pytest.importorskip("matplotlib")

PNG = b"\x89PNG\r\n\x1a\n"


def draw(X, labels, **options):
    """The axes of the picture, drawn to the end."""
    figure = plot_clusters(X, labels, **options)
    figure.draw_without_rendering()
    (axes,) = figure.axes
    return axes


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def points(axes):
    """The points of each cluster, the largest cluster first."""
    return [np.asarray(collection.get_offsets()) for collection in axes.collections]


def test_two_columns_are_drawn_as_they_are():
    X = np.array([[0.0, 1.0], [5.0, 6.0], [5.5, 6.5], [4.5, 6.0]])
    axes = draw(X, [3, 8, 8, 8], columns=["length", "width"])
    assert np.array_equal(points(axes)[0], X[1:])
    assert np.array_equal(points(axes)[1], X[:1])
    assert axes.get_xlabel() == "length"
    assert axes.get_ylabel() == "width"
    assert axes.get_title(loc="left") == "2 clusters in 4 rows"
    assert legend(axes) == ["8  (3)", "3  (1)"]


def test_an_ellipse_shows_two_standard_deviations():
    rng = np.random.default_rng(0)
    X = rng.normal([3.0, -2.0], [5.0, 1.0], size=(100_000, 2))
    turn = np.radians(30.0)
    X = X @ np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    (ellipse,) = draw(X, np.zeros(len(X))).patches
    assert ellipse.width == pytest.approx(20.0, rel=0.02)
    assert ellipse.height == pytest.approx(4.0, rel=0.02)
    assert ellipse.angle % 180.0 == pytest.approx(30.0, abs=1.0)
    assert ellipse.center == pytest.approx(X.mean(axis=0))


@pytest.mark.parametrize(("rows", "ellipses"), [(1, 0), (2, 0), (3, 1)])
def test_an_ellipse_needs_three_rows(rows, ellipses):
    X = np.arange(2.0 * rows).reshape(rows, 2)
    assert len(draw(X, [0] * rows).patches) == ellipses


def test_one_column_becomes_a_strip_for_each_cluster():
    axes = draw([[1.0], [1.0], [1.5], [9.0]], ["low", "low", "low", "high"], columns=["mm"])
    low, high = points(axes)
    assert low[:, 0].tolist() == [1.0, 1.0, 1.5]
    assert high[:, 0].tolist() == [9.0]
    assert low[:, 1].max() < high[:, 1].min()
    assert axes.get_xlabel() == "mm"
    assert not axes.patches


def test_more_columns_become_two_principal_components():
    X, states, columns = load_sensors()
    axes = draw(X, states, columns=columns, view="plane")
    scores = np.concatenate(points(axes))
    eigenvalues = np.linalg.eigvalsh(np.corrcoef(X.T))[::-1]
    assert scores.var(axis=0) == pytest.approx(eigenvalues[:2])
    assert np.corrcoef(scores.T)[0, 1] == pytest.approx(0.0, abs=1e-9)
    assert axes.get_xlabel() == f"principal component 1 ({eigenvalues[0] / 3:.0%} of the variance)"


def grid(figure):
    """The panels of a grid of pairs by row and column."""
    places = [axes.get_subplotspec() for axes in figure.axes]
    return {
        (place.rowspan.start, place.colspan.start): axes
        for place, axes in zip(places, figure.axes, strict=True)
    }


@pytest.mark.parametrize("n_columns", [3, 6])
def test_three_to_six_columns_become_a_grid_of_pairs(n_columns):
    X, labels = planted_gaussians(60, n_columns, 3, random_state=0)
    names = [f"c{j}" for j in range(n_columns)]
    figure = plot_clusters(X, labels, columns=names)
    panels = grid(figure)
    assert set(panels) == {(i, j) for i in range(n_columns) for j in range(i + 1)}
    order = np.argsort(-np.bincount(labels), kind="stable")
    for (i, j), axes in panels.items():
        if i > j:
            for k, found in zip(order, points(axes), strict=True):
                assert np.array_equal(found, X[labels == k][:, [j, i]])
        else:
            heights = [patch.get_data().values.sum() for patch in axes.patches]
            assert heights == [np.sum(labels == k) for k in order]
    assert [panels[n_columns - 1, j].get_xlabel() for j in range(n_columns)] == names
    assert [panels[i, 0].get_ylabel() for i in range(1, n_columns)] == names[1:]
    assert figure.get_suptitle() == "3 clusters in 60 rows"
    (shown,) = figure.legends
    texts = [text.get_text() for text in shown.get_texts()]
    assert texts == [f"{k}  ({np.sum(labels == k)})" for k in order]


def test_the_legend_of_a_grid_hides_no_panel():
    for n_columns in (3, 6):
        labels = np.arange(11)
        figure = plot_clusters(np.random.default_rng(0).normal(size=(11, n_columns)), labels)
        figure.draw_without_rendering()
        place = figure.legends[0].get_window_extent()
        assert not any(axes.bbox.overlaps(place) for axes in figure.axes)


def test_pairs_show_rows_that_miss_neither_column():
    X = np.array([[0.0, 1.0, 2.0], [3.0, np.nan, 4.0], [np.nan] * 3, [5.0, 6.0, np.nan]])
    figure = plot_clusters(X, [0, 0, 0, 0])
    shown = {place: points(axes) for place, axes in grid(figure).items()}
    assert shown[1, 0][0].tolist() == [[0.0, 1.0], [5.0, 6.0]]
    assert shown[2, 0][0].tolist() == [[0.0, 2.0], [3.0, 4.0]]
    assert shown[2, 1][0].tolist() == [[1.0, 2.0]]
    assert figure.get_suptitle() == "1 cluster in 4 rows; 1 with missing values not shown"


def test_long_tails_have_a_logarithmic_scale():
    X, states, columns = load_sensors()
    panels = grid(plot_clusters(X, states, columns=columns))
    assert [panels[2, j].get_xscale() for j in range(3)] == ["log", "linear", "linear"]
    assert [panels[j, j].get_xscale() for j in range(3)] == ["log", "linear", "linear"]
    assert panels[1, 0].get_yscale() == "linear"
    zeros = np.where(np.arange(600) % 3 == 0, 0.0, 500.0 * X[:, 0])
    panels = grid(plot_clusters(np.c_[zeros, X[:, 1:]], states))
    assert panels[0, 0].get_xscale() == panels[2, 0].get_xscale() == "symlog"
    turned = grid(plot_clusters(X[:, ::-1], states))
    assert turned[2, 0].get_yscale() == turned[2, 1].get_yscale() == "log"


@pytest.mark.parametrize("name", ["linear", "log", "symlog"])
def test_bins_are_equally_wide_on_every_scale(name):
    from matplotlib.figure import Figure

    scale, places = Scale(name, 10.0), np.linspace(0.0, 4.0, 9)
    values = scale.value(places)
    np.testing.assert_allclose(scale.place(values), places, atol=1e-12)
    axes = Figure().add_subplot()
    axes.set_xscale(name, **scale.options())
    axes.set_xlim(values[0], values[-1])
    shown = axes.transData.transform(np.c_[values, np.full(9, 0.5)])[:, 0]
    np.testing.assert_allclose(np.diff(shown), (shown[-1] - shown[0]) / 8, rtol=1e-9)


def test_more_columns_become_a_table_of_means():
    X, labels = planted_gaussians(80, 7, 3, random_state=0)
    X[:, 3] = 1.0  # in which clusters do not differ
    X[0, 0] = np.nan
    axes = draw(X, labels)
    order = np.argsort(-np.bincount(labels), kind="stable")
    means = np.array([np.nanmean(X[labels == k], axis=0) for k in order])
    spread = np.nanstd(X, axis=0)
    deviations = (means - np.nanmean(X, axis=0)) / np.where(spread > 0.0, spread, 1.0)
    first = np.argsort(-np.abs(deviations).max(axis=0), kind="stable")
    np.testing.assert_allclose(axes.images[0].get_array(), deviations[:, first].T, atol=1e-12)
    assert [tick.get_text() for tick in axes.get_yticklabels()] == [f"column {j}" for j in first]
    headings = [f"cluster {k}\n({np.sum(labels == k)})" for k in order]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == headings
    assert axes.texts[0].get_text() == f"{means[0, first[0]]:.4g}"
    assert axes.get_title(loc="left") == "3 clusters in 80 rows"


def test_names_in_tables_are_no_formulas():
    X, labels = planted_gaussians(40, 7, 2, random_state=0)
    axes = draw(X, [f"${k}$" for k in labels], columns=[f"${j}$" for j in range(7)])
    names = {tick.get_text() for tick in axes.get_yticklabels()}
    assert names == {rf"\${j}\$" for j in range(7)}
    assert axes.get_xticklabels()[0].get_text().startswith(r"cluster \$")


def test_a_table_of_means_says_what_it_leaves_out():
    X, labels = planted_gaussians(300, 30, 12, random_state=0)
    axes = draw(X, labels)
    assert axes.images[0].get_array().shape == (25, 10)
    _, *left_out = axes.get_xlabel().split("\n")
    assert left_out == [
        "the 10 largest of 12 clusters",
        "the 25 of 30 columns in which clusters differ most",
    ]


@pytest.mark.parametrize(
    ("n_columns", "view", "drawn"),
    [(2, "auto", "plane"), (4, "auto", "plane"), (7, "auto", "means"), (3, "means", "means")],
)
def test_views_in_axes_that_are_there(n_columns, view, drawn):
    from matplotlib.figure import Figure

    X, labels = planted_gaussians(30, n_columns, 2, random_state=0)
    ax = Figure().add_subplot()
    plot_clusters(X, labels, view=view, ax=ax)
    assert len(ax.images) == (drawn == "means")
    assert len(ax.collections) == (2 if drawn == "plane" else 0)


def test_views_state_their_rules():
    from matplotlib.figure import Figure

    X = np.zeros((4, 3))
    with pytest.raises(ValueError, match="view must be one of 'auto', 'plane', 'pairs', 'means'"):
        plot_clusters(X, [0] * 4, view="grid")
    with pytest.raises(ValueError, match="view='pairs' draws several axes: ax must be None"):
        plot_clusters(X, [0] * 4, view="pairs", ax=Figure().add_subplot())


@pytest.mark.parametrize("shape", [(1, 3), (2, 4), (1, 7), (3, 9)])
@pytest.mark.parametrize("value", [0.0, -1e160])
def test_grids_and_tables_of_few_or_equal_rows(shape, value):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plot_clusters(np.full(shape, value), [0] * shape[0]).draw_without_rendering()


def test_a_data_frame_names_the_axes():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"lon": [0.0, 1.0, 2.0], "city": ["a", "b", "c"], "lat": [3.0, 4.0, 6.0]})
    axes = draw(frame, [0, 0, 0])
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("lon", "lat")
    assert points(axes)[0].tolist() == [[0.0, 3.0], [1.0, 4.0], [2.0, 6.0]]
    told = draw(frame, [0, 0, 0], columns=["x", "name", "y"])
    assert (told.get_xlabel(), told.get_ylabel()) == ("x", "y")
    assert draw(pd.DataFrame([[0.0], [1.0]]), [0, 0]).get_xlabel() == "column 0"
    with pytest.raises(ValueError, match=r"must have a column of numbers, got columns \['city'\]"):
        plot_clusters(frame[["city"]], [0, 0, 0])


def test_rows_without_a_shown_cell_are_not_drawn():
    X = np.array([[0.0, 1.0], [np.nan, 6.0], [5.5, 6.5], [4.5, np.nan]])
    axes = draw(X, [0, 1, 1, 1])
    assert np.concatenate(points(axes)).tolist() == [[5.5, 6.5], [0.0, 1.0]]
    assert axes.get_title(loc="left") == "2 clusters in 4 rows; 2 with missing values not shown"
    assert legend(axes) == ["1  (3)", "0  (1)"]
    strip = draw(X[:, :1], [0, 1, 1, 1])
    assert sorted(np.concatenate(points(strip))[:, 0]) == [0.0, 4.5, 5.5]


def test_missing_cells_of_many_columns_stand_at_the_mean_of_their_cluster():
    X, labels = planted_gaussians(60, 4, 2, random_state=0)
    X[0, 1] = X[1, 2] = X[2, 3] = np.nan
    expected = X.copy()
    for i, j in ((0, 1), (1, 2), (2, 3)):
        expected[i, j] = np.nanmean(X[labels == labels[i], j])
    axes = draw(X, labels, view="plane")
    assert np.concatenate(points(axes)) == pytest.approx(
        np.concatenate(points(draw(expected, labels, view="plane"))), abs=1e-9
    )
    X[3] = np.nan
    title = draw(X, labels, view="plane").get_title(loc="left")
    assert title == "2 clusters in 60 rows; 1 with missing values not shown"
    X[labels == labels[0], 1] = np.nan  # a cluster without a value: the mean of all rows
    assert np.isfinite(np.concatenate(points(draw(X, labels, view="plane")))).all()


@pytest.mark.parametrize(("scale", "offset"), [(1e3, -1e5), (1e160, 0.0), (1e-160, 0.0)])
def test_principal_components_do_not_depend_on_units(scale, offset):
    X, labels = planted_gaussians(60, 5, 3, random_state=0)
    here = np.concatenate(points(draw(X, labels, view="plane")))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        there = np.concatenate(points(draw(scale * X + offset, labels, view="plane")))
    assert there == pytest.approx(here, abs=1e-6)


@pytest.mark.parametrize("scale", [1e160, 1e-160])
def test_ellipses_are_as_large_as_the_rows_are_far_apart(scale):
    X, labels = planted_gaussians(60, 2, 3, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        there = plot_clusters(scale * X, labels).axes[0].patches
    for small, large in zip(draw(X, labels).patches, there, strict=True):
        assert large.width == pytest.approx(scale * small.width)
        assert large.height == pytest.approx(scale * small.height)
        assert large.angle == pytest.approx(small.angle)


@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (1, 3), (2, 3), (3, 7), (4, 1)])
@pytest.mark.parametrize("value", [0.0, 1e12])
def test_few_or_equal_rows_can_be_drawn(shape, value):
    axes = draw(np.full(shape, value), [0] * shape[0], view="plane")
    assert np.isfinite(points(axes)[0]).all()


def test_many_clusters_differ_by_colour_and_marker_and_the_legend_stays_short():
    n_clusters = MAX_LEGEND_ENTRIES + 4
    labels = np.repeat(np.arange(n_clusters), np.arange(n_clusters, 0, -1))
    X = np.random.default_rng(0).normal(size=(len(labels), 2))
    axes = draw(X, labels)
    colours = [tuple(c.get_facecolor()[0]) for c in axes.collections]
    shapes = [c.get_paths()[0].vertices.tobytes() for c in axes.collections]
    assert len(axes.collections) == n_clusters
    assert len(set(zip(colours, shapes, strict=True))) == n_clusters
    assert len(legend(axes)) == MAX_LEGEND_ENTRIES + 1
    assert legend(axes)[-1] == "and 4 smaller"


def test_styles_repeat_when_they_run_out():
    n_clusters = len(COLOURS) * len(MARKERS) + 1
    axes = draw(np.arange(2.0 * n_clusters).reshape(-1, 2), range(n_clusters))
    assert len(axes.collections) == n_clusters


def test_default_names_count_from_zero():
    axes = draw([[1.0, 2.0], [3.0, 4.0]], [0, 1])
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("column 0", "column 1")


def test_singular_and_plural():
    assert draw([[1.0, 2.0]], [0]).get_title(loc="left") == "1 cluster in 1 row"


def test_a_model_may_come_first():
    X, _, columns = load_sensors()
    model = MAPDPM(prior="paper", random_state=0).fit(X[:300])
    options = {"columns": columns, "view": "plane"}
    here, there = draw(model, X, **options), draw(X, model.predict(X), **options)
    for one, other in zip(points(here), points(there), strict=True):
        assert np.array_equal(one, other)
    assert legend(here) == legend(there)


@pytest.mark.parametrize("name", ["clusters", "profiles", "density", "dendrogram"])
@pytest.mark.parametrize("layout", [None, "constrained"])
def test_pictures_in_axes_that_are_there(name, layout, tmp_path):
    from matplotlib.figure import Figure

    X = load_sensors()[0][:60, :1]
    model = MAPDPM(prior="paper", component="normal-gamma", random_state=0).fit(X)
    figure = Figure(layout=layout)
    beside, ax = figure.subplots(1, 2)
    drawings = {
        "clusters": lambda: plot_clusters(model, X, ax=ax, path=tmp_path / "a.png"),
        "profiles": lambda: plot_profiles(model, ax=ax, path=tmp_path / "a.png"),
        "density": lambda: plot_density(model, X, ax=ax, path=tmp_path / "a.png"),
        "dendrogram": lambda: plot_dendrogram(
            BayesianHierarchicalClustering(prior="paper").fit(X), ax=ax, path=tmp_path / "a.png"
        ),
    }
    assert drawings[name]() is figure
    assert figure.axes == [beside, ax]
    assert ax.has_data()
    assert not beside.has_data()
    assert (tmp_path / "a.png").read_bytes().startswith(PNG)


def test_a_legend_makes_room_for_itself_once():
    from matplotlib.figure import Figure

    X = [[1.0, 2.0], [3.0, 4.0]]
    ax = Figure().add_subplot()
    plot_clusters(X, [0, 1], ax=ax)
    place = ax.get_position().bounds
    assert place[2] == pytest.approx(0.72 * Figure().add_subplot().get_position().width)
    plot_clusters(X, [0, 1], ax=ax)
    assert ax.get_position().bounds == place


def test_words_of_profiles_fit_into_narrow_cells():
    from matplotlib.figure import Figure

    model = MAPDPM(prior="paper", random_state=0).fit(load_sensors()[0])
    figure = Figure(figsize=(5.0, 4.0))
    ax = figure.add_subplot()
    plot_profiles(model, ax=ax)
    figure.draw_without_rendering()
    cell = ax.get_window_extent().width / model.n_clusters_
    widths = [text.get_window_extent().width for text in ax.texts]
    assert max(widths) <= cell


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_look_as_those_that_were_looked_at(name):
    assert likeness(PICTURES[name](), name) > 0.93


def test_a_picture_that_changed_is_seen():
    unlabelled, turned = PICTURES["plane"](), PICTURES["profiles"]()
    unlabelled.axes[0].get_legend().remove()
    turned.axes[0].images[0].set_cmap("Blues_r")
    assert likeness(unlabelled, "plane") < 0.9
    assert likeness(turned, "profiles") < 0.9


def test_a_notebook_shows_a_figure():
    shown = plot_clusters([[1.0, 2.0], [3.0, 4.0]], [0, 1])._repr_png_()
    assert shown.startswith(PNG)


def test_a_figure_can_be_pickled():
    figure = pickle.loads(pickle.dumps(plot_clusters([[1.0, 2.0], [3.0, 4.0]], [0, 1])))
    assert figure._repr_png_().startswith(PNG)


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_a_file_is_written(tmp_path, ending):
    path = tmp_path / f"clusters.{ending}"
    plot_clusters([[1.0, 2.0], [3.0, 4.0]], [0, 1], path=path)
    start = path.read_bytes()[:8]
    assert start.startswith({"png": PNG, "svg": b"<?xml", "pdf": b"%PDF"}[ending])


def test_nothing_is_written_without_a_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plot_clusters([[1.0, 2.0], [3.0, 4.0]], [0, 1])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("X", "labels", "columns", "message"),
    [
        ([1.0, 2.0], [0, 0], None, "X must be 2-D"),
        ([[1.0, np.inf]], [0], None, "X must be finite, got inf in row 0, column 1"),
        ([[1.0, np.nan]], [0], None, "X must have a row without a missing cell, got none"),
        ([[1.0, 2.0]], [0, 1], None, r"labels must have shape \(1,\), got \(2,\)"),
        ([[1.0, 2.0]], [0], ["a"], "columns must be 2 names, got 1"),
    ],
)
def test_bad_input_is_named(X, labels, columns, message):
    with pytest.raises(ValueError, match=message):
        plot_clusters(X, labels, columns=columns)


def test_without_matplotlib_the_error_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match="python3 -m pip install matplotlib"):
        plot_clusters([[1.0, 2.0]], [0])


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import dpmlite.cli, dpmlite.plotting", "matplotlib"),
        ("from dpmlite.plotting import plot_clusters as p; p([[1, 2]], [0])", "matplotlib.pyplot"),
    ],
)
def test_matplotlib_is_imported_late_and_pyplot_never(tmp_path, code, absent):
    code = f"{code}; import sys; sys.exit({absent!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path).returncode == 0


def test_density_and_the_parts_of_its_clusters(tmp_path):
    X = np.concatenate([np.random.default_rng(0).normal(c, 1.0, (60, 1)) for c in (0.0, 8.0)])
    model = MAPDPM(prior="paper", random_state=0).fit(X)
    path = tmp_path / "density.png"
    (axes,) = plot_density(model, X, name="depth", path=path).axes
    assert path.stat().st_size > 10_000
    assert axes.get_xlabel() == "depth"
    *parts, whole = axes.lines[1:]
    assert len(parts) == model.n_clusters_ == 2
    x, y = whole.get_data()
    np.testing.assert_allclose(y, np.exp(model.score_samples(x[:, None])), rtol=1e-12)
    total = sum(part.get_ydata() for part in parts)
    assert (total <= y).all()
    np.testing.assert_allclose(total, y, atol=0.02 * y.max())


def test_density_of_a_chain_on_axes_that_are_there():
    from matplotlib.figure import Figure

    X = np.random.default_rng(0).normal(size=(20, 1))
    chain = CollapsedGibbs(prior="paper", n_samples=3, random_state=0).fit(X)
    figure = Figure()
    axes = figure.add_subplot()
    assert plot_density(chain, X, ax=axes) is figure
    assert len(axes.lines) == 2


@pytest.mark.parametrize(
    "model",
    [
        DPSearch(prior="paper"),
        BayesianHierarchicalClustering(prior="paper"),
        VariationalDPM(prior="paper", random_state=0),
    ],
)
def test_density_of_other_models(model):
    X = np.random.default_rng(0).normal(size=(20, 1))
    *_, whole = plot_density(model.fit(X), X).axes[0].lines
    x, y = whole.get_data()
    np.testing.assert_allclose(y, np.exp(model.score_samples(x[:, None])), rtol=1e-12)


def test_density_of_a_log_normal_column():
    X = load_sensors()[0][:, :1]
    model = MAPDPM(component={0: "log-normal"}, random_state=0).fit(X)
    *_, whole = plot_density(model, X).axes[0].lines
    x, y = whole.get_data()
    assert 0.0 < x.min() < X.min()
    np.testing.assert_allclose(y, np.exp(model.score_samples(x[:, None])), rtol=1e-12)


def test_density_has_a_legend_of_clusters():
    X = load_sensors()[0][:, 1:2]
    model = MAPDPM(random_state=0).fit(X)
    entries = legend(plot_density(model, X).axes[0])
    assert entries == [f"{k}  ({share:.1%})" for k, share in enumerate(model.weights_)]


def test_density_leaves_missing_values_out():
    X = np.concatenate([np.random.default_rng(0).normal(c, 1.0, (50, 1)) for c in (0.0, 9.0)])
    with_gaps = np.insert(X, [0, 70], np.nan, axis=0)
    model = MAPDPM(allow_missing=True, random_state=0).fit(with_gaps)
    (axes,) = plot_density(model, with_gaps).axes
    assert np.array_equal(axes.lines[0].get_xdata(), X[:, 0])
    with pytest.raises(ValueError, match="X must have a value for a density, all are missing"):
        plot_density(model, [[np.nan]])


def test_names_are_no_formulas(tmp_path):
    axes = draw([[1.0, 2.0], [3.0, 4.0]], ["$x_$", "cost $ gain $"], columns=["a_$", "$b$"])
    axes.figure.savefig(tmp_path / "names.svg")
    drawn = (tmp_path / "names.svg").read_text()
    for text in ("$x_$  (1)", "cost $ gain $  (1)", "a_$", "$b$"):
        assert f"<!-- {text} -->" in drawn


def test_density_needs_a_fitted_mixture():
    with pytest.raises(NotFittedError, match="this MAPDPM is not fitted yet"):
        plot_density(MAPDPM(prior="paper"), [[0.0], [1.0]])
    with pytest.raises(TypeError, match="model must have a density, got a NoneType"):
        plot_density(None, [[0.0], [1.0]])


def test_density_needs_one_column():
    X = np.zeros((3, 2))
    with pytest.raises(ValueError, match=r"one column for a density, got shape \(3, 2\)"):
        plot_density(MAPDPM(prior="paper"), X)


def test_density_needs_real_numbers():
    model = MAPDPM(prior="paper", component="beta-bernoulli").fit([[0], [1], [1]])
    with pytest.raises(ValueError, match="must be of real numbers, got component 'beta-bernoulli'"):
        plot_density(model, [[0], [1], [1]])


def test_density_of_a_column_with_a_name():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame({"height": np.arange(9.0)})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = plot_density(MAPDPM(prior="paper", random_state=0).fit(X), X)
    assert figure.axes[0].get_xlabel() == "height"


def test_a_dendrogram_has_the_colours_of_the_clusters(tmp_path):
    from matplotlib.colors import to_rgba

    X, _ = planted_gaussians(30, 2, 3, separation=20.0, random_state=1)
    model = BayesianHierarchicalClustering(prior={"b0": 1.0}).fit(X)
    assert model.n_clusters_ == 3
    names, path = [f"row {i}" for i in range(30)], tmp_path / "tree.png"
    figure = plot_dendrogram(model, names=names, path=path)
    (axes,) = figure.axes
    (tree,) = axes.collections
    assert path.read_bytes().startswith(PNG)
    assert len(tree.get_segments()) == 3 * len(model.children_)
    ticks = [text.get_text() for text in axes.get_xticklabels()]
    assert sorted(ticks) == sorted(names)
    stems = {}  # the colour of the line that ends at each leaf
    for line, colour in zip(tree.get_segments(), tree.get_colors(), strict=True):
        if line[0, 1] == axes.get_ylim()[0] and line[0, 0] == line[1, 0]:
            stems[round(line[0, 0])] = tuple(colour)
    shown = [int(name.split()[1]) for name in ticks]
    expected = [to_rgba(COLOURS[model.labels_[i]]) for i in shown]
    assert [stems[x] for x in range(30)] == expected
    assert axes.get_title(loc="left") == "3 clusters in 30 rows"


def test_names_of_leaves_count_by_position():
    pd = pytest.importorskip("pandas")
    model = BayesianHierarchicalClustering(prior={"b0": 0.1}).fit([[0.0], [10.0], [0.2], [10.1]])
    names, drawn = ["zero", "ten", "about zero", "about ten"], []
    for given in (names, pd.Series(names, index=[3, 2, 1, 0]), pd.Series(names, index=range(4, 8))):
        ticks = plot_dendrogram(model, names=given).axes[0].get_xticklabels()
        drawn.append([text.get_text() for text in ticks])
    assert drawn[0] == drawn[1] == drawn[2]
    assert {"zero", "about zero"} in (set(drawn[0][:2]), set(drawn[0][2:]))


@pytest.mark.parametrize(("n_rows", "named"), [(2, 2), (60, 60), (61, 0)])
def test_many_leaves_are_not_named(n_rows, named):
    X = np.random.default_rng(0).normal(size=(n_rows, 2))
    figure = plot_dendrogram(BayesianHierarchicalClustering(prior="paper").fit(X))
    figure.draw_without_rendering()
    assert len(figure.axes[0].get_xticklabels()) == named


def test_a_dendrogram_states_its_rules():
    model = BayesianHierarchicalClustering(prior={"c0": 1.0, "b0": 1.0})
    with pytest.raises(ValueError, match="at least two leaves, got 1"):
        plot_dendrogram(model.fit([[0.0]]))
    with pytest.raises(ValueError, match="names must be 2 names, got 1"):
        plot_dendrogram(model.fit([[0.0], [1.0]]), names=["a"])
    with pytest.raises(NotFittedError, match="this BayesianHierarchicalClustering is not fitted"):
        plot_dendrogram(BayesianHierarchicalClustering())
    with pytest.raises(TypeError, match="must be a BayesianHierarchicalClustering, got a MAPDPM"):
        plot_dendrogram(MAPDPM(prior="paper"))


@needs_kernels
def test_profiles_show_columns_that_tell_most_first(tmp_path):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 400)
    X = pd.DataFrame({"shoes": rng.normal(size=400), "age": rng.normal(9.0 * labels)})
    X["city"] = np.where(rng.random(400) < 0.8, labels, 1 - labels)
    X["city"] = X["city"].map({0: "Oslo", 1: "a town with a name of many letters"})
    model = MAPDPM(random_state=0).fit(X)
    figure = plot_profiles(model, path=tmp_path / "profiles.png")
    axes = figure.axes[0]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["age", "city", "shoes"]
    assert [tick.get_text().split("\n")[0] for tick in axes.get_xticklabels()] == [
        "cluster 0",
        "cluster 1",
    ]
    assert len(axes.texts) == 6
    assert max(len(text.get_text()) for text in axes.texts) <= 20
    shades = axes.images[0].get_array()
    assert (shades[0] > shades[2]).all()
    assert (tmp_path / "profiles.png").stat().st_size > 0


@needs_kernels
def test_profiles_state_their_rules():
    with pytest.raises(TypeError, match="model must have explain, as MAPDPM, got a list"):
        plot_profiles([])
    with pytest.raises(ValueError, match="not fitted"):
        plot_profiles(MAPDPM())
