"""The page of the site that draws a board's rows as they come: what it reads, and what it shows."""

import json
import re
import shutil
import subprocess

import pytest
from learners import BOARDS
from mapdpm_batch import dump
from mapdpm_int import MAPDPM
from needs import needs_program
from recording import recording

PAGE = BOARDS.parent / "docs" / "_static" / "board.html"
SCRIPTS = dict(re.findall(r'<script id="(\w+)"[^>]*>\n(.*?)</script>', PAGE.read_text(), re.S))

# Feeds pieces of text to the page's reader, and prints what it makes of them.
READ = """
const rows = [], dumps = [], others = [];
const lines = new Lines({
  row: (row) => rows.push([row.label, ...row.values]),
  dump: (clusters) => dumps.push(clusters),
  other: (line) => others.push(line),
});
for (const piece of JSON.parse(require("fs").readFileSync(0, "utf8"))) lines.feed(piece);
console.log(JSON.stringify([rows, dumps, others]));
"""


def read(*pieces):
    """Rows, dumps and other lines."""
    needs_program("node")
    command = ["node", "-e", SCRIPTS["reading"] + READ]
    given = json.dumps(pieces)
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_the_recording_is_what_the_example_prints():
    assert SCRIPTS["recording"] == recording()


@pytest.mark.parametrize("size", [1, 7, 4096])
def test_lines_arrive_in_pieces(size):
    text = recording().replace("\n", "\r\n")
    rows, dumps, others = read(*(text[i : i + size] for i in range(0, len(text), size)))
    assert rows == [[int(word) for word in line.split()] for line in text.splitlines()]
    assert (dumps, others) == ([], [])


def test_a_row_is_a_label_and_numbers():
    text = "-1 3 4.5\n0,-7,1e3\nMicroPython v1.28\n7\n\n3 x\n1.5 2\n"
    rows, _, others = read(text)
    assert rows == [[-1, 3, 4.5], [0, -7, 1000]]
    assert others == ["MicroPython v1.28", "7", "3 x", "1.5 2"]


def test_values_are_shown_with_the_digits_that_count():
    """Those of a learner in floats, too."""
    needs_program("node")
    values = "[0, 389.12, -2047.4, 101325, 0.12345, 21.561, -0.00071]"
    command = ["node", "-p", f"{SCRIPTS['reading']} {values}.map(digits).join(' ')"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "0 389 -2047 101325 0.123 21.6 -0.00071\n"


def test_a_dump_shows_its_clusters():
    """Of a learner that forgot, whose weights are not its rows."""
    m = MAPDPM(2, 4, (10, -20), (900, 900), memory=64)
    for i in range(300):
        m.learn([(i % 2) * 900 + i % 5, -300 + i % 7])
    digits = dump(m).hex()
    _, [clusters], _ = read(digits + "\n")
    assert [cluster["label"] for cluster in clusters] == [k for k in range(4) if m.counts[k]]
    for cluster in clusters:
        assert cluster["weight"] == m.counts[cluster["label"]]
        assert [int(mean // 1) for mean in cluster["mean"]] == m.mean(cluster["label"])
    assert len(clusters) >= 2
    assert read(digits[:-8] + "\n")[1] == []


def test_a_browser_draws_the_recording():
    """The table of clusters, after the whole recording; nothing is asked of any host."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no browser")
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    command += ["--virtual-time-budget=20000", f"file://{PAGE}#recording"]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout
    table = re.search(r'<table id="clusters">(.*?)</table>', shown, re.S)[1]
    cells = [re.findall(r"<td>(?:<i.*?</i>)?(.*?)</td>", row) for row in table.split("<tr>")[2:]]
    labels = [int(line.split()[0]) for line in recording().splitlines()]
    assert {int(row[0]): int(row[1]) for row in cells} == {k: labels.count(k) for k in set(labels)}
    assert "://" not in PAGE.read_text()
