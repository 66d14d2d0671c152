"""Both implementations against the test vectors, see tests/vectors/README.md."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator

VECTORS = Path(__file__).parent / "vectors"
NAMES = ("special", "crp", "normal_gamma", "map_dpm")


def read(name):
    return json.loads((VECTORS / f"{name}.json").read_text(encoding="utf-8"))


def every_case(name):
    """Run a test on every case of a file, with the tolerance that holds for it."""
    vectors = read(name)
    parameters = []
    for case in vectors["cases"]:
        case = {"tolerance": vectors["tolerance"], **case}
        test_id = f"{case['id']}-{case['comment']}"
        parameters.append(pytest.param(case, id=test_id))
    return pytest.mark.parametrize("case", parameters)


def assert_close(case, results, expected):
    """Results are within the tolerance of the decimals that are expected."""
    relative, absolute = case["tolerance"]["relative"], case["tolerance"]["absolute"]
    expected = np.asarray(expected, dtype=float)
    np.testing.assert_allclose(results, expected, rtol=relative, atol=absolute)


def normal_gamma(twin, prior, *clusters):
    """A component with the clusters in its first slots, and one empty slot."""
    component = twin.normal_gamma.NormalGamma(**prior)
    component.resize(len(clusters) + 1)
    for k, rows in enumerate(clusters):
        for row in rows:
            component.add(np.array(row), k)
    return component


@every_case("special")
def test_special(twin, case):
    for function, expected in case["expected"].items():
        assert_close(case, getattr(twin.special, function)(**case["input"]), expected)


@every_case("crp")
def test_crp(twin, case):
    given, expected = case["input"], case["expected"]
    alpha, counts = given["alpha"], np.array(given["counts"], dtype=float)
    assert_close(case, twin.crp.log_prob_counts(counts, alpha), expected["log_prob_counts"])
    assert_close(case, twin.crp.predictive(counts, alpha), expected["predictive"])
    if "labels" in given:
        labels = np.array(given["labels"], dtype=np.intp)
        assert_close(case, twin.crp.log_prob(labels, alpha), expected["log_prob"])


def members_left_out(twin, component, rows, members):
    """Scores of members of one cluster by its statistics, or by its rows where those blur."""
    if not members:
        return []
    single = np.zeros(len(rows), dtype=np.intp)
    partition = twin.partition.Partition(rows, single, component.like(), 1.0)
    weight = np.log(len(rows) - 1.0) if len(rows) > 1 else 0.0
    from_rows = [-partition.costs(i)[0] - weight for i in members]
    scores = [component.log_predictive_member(rows[i], 0) for i in members]
    return [r if np.isnan(s) else s for s, r in zip(scores, from_rows, strict=True)]


@every_case("normal_gamma")
def test_normal_gamma(twin, case):
    given, expected = case["input"], case["expected"]
    rows, query = given["rows"], np.array(given["query"])
    component = normal_gamma(twin, given["prior"], rows, given["other"])
    left_out = members_left_out(twin, component, np.array(rows), given["left_out"])
    results = {
        "log_predictive_empty": component.log_predictive(query, 2),
        "log_predictive": component.log_predictive(query, 0),
        "log_predictive_member": left_out,
        "log_marginal": component.log_marginal(0),
        "log_marginal_merged": component.log_marginal_merged(0, 1),
    }
    assert results.keys() == expected.keys()
    for name, result in results.items():
        assert_close(case, result, expected[name])


@every_case("map_dpm")
def test_map_dpm(twin, case):
    given, expected = case["input"], case["expected"]
    labels = np.array(given["labels"], dtype=np.intp)
    component = normal_gamma(twin, given["prior"])
    partition = twin.partition.Partition(np.array(given["rows"]), labels, component, given["alpha"])
    for state in (expected["start"], *expected["sweeps"]):
        if "moves" in state:
            assert twin.map_dpm.sweep(partition) == state["moves"]
        assert labels.tolist() == state["labels"]
        assert_close(case, partition.exact_neg_log_joint(), state["neg_log_joint"])
        assert_close(case, partition.neg_log_joint, state["neg_log_joint"])


@pytest.mark.parametrize("name", NAMES)
def test_schema(name):
    schema = json.loads((VECTORS / "schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    vectors = read(name)
    Draft202012Validator(schema).validate(vectors)
    assert vectors["name"] == name
    assert [case["id"] for case in vectors["cases"]] == [*range(1, len(vectors["cases"]) + 1)]


def test_every_file_is_tested():
    assert {path.stem for path in VECTORS.glob("*.json")} == {*NAMES, "schema"}


def test_the_files_are_what_the_generator_writes():
    command = [sys.executable, str(VECTORS / "generate.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
