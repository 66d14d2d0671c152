"""Figures of panels: no curve is dropped, and a curve looks alike in all panels."""

import numpy as np
import pytest
from panels import draw_curves, draw_panels, styles_of

PANELS = {
    f"table {i}": {
        n: {f"method {j}": float(i + j * n) for j in range(9) if (i + j) % 4} for n in (10, 20, 40)
    }
    for i in range(4)
}


def test_every_curve_has_a_look_of_its_own():
    styles = styles_of(PANELS)
    assert set(styles) == {f"method {j}" for j in range(9)}
    assert len({tuple(look.values()) for look in styles.values()}) == 9


def test_every_curve_of_a_panel_is_drawn():
    figure = pytest.importorskip("matplotlib.figure").Figure()
    styles, found = styles_of(PANELS), PANELS["table 1"]
    lines = draw_curves(figure.add_subplot(), found, styles, "method 2")
    assert set(lines) == set(found[10])
    for column, line in lines.items():
        assert line.get_color() == styles[column]["color"]
        expected = [values[column] - values["method 2"] for values in found.values()]
        np.testing.assert_array_equal(line.get_ydata(), expected)


def test_figures_are_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    draw_panels(PANELS, tmp_path / "panels.png", less=lambda columns: columns[0])
    assert (tmp_path / "panels.png").stat().st_size > 10_000
