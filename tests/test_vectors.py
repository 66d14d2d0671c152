"""Both implementations against the test vectors, see tests/vectors/README.md."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from cases import compressed
from jsonschema import Draft202012Validator

VECTORS = Path(__file__).parent / "vectors"
FAMILIES = {
    "normal_gamma": "NormalGamma",
    "incomplete_normal_gamma": "IncompleteNormalGamma",
    "normal_inverse_wishart": "NormalInverseWishart",
    "normal_known_variance": "NormalKnownVariance",
    "dirichlet_multinomial": "DirichletMultinomial",
    "beta_bernoulli": "BetaBernoulli",
    "categorical": "Categorical",
    "poisson_gamma": "PoissonGamma",
    "exposed_poisson_gamma": "ExposedPoissonGamma",
}
NAMES = ("special", "crp", *FAMILIES, "map_dpm")


def read(name):
    return json.loads((VECTORS / f"{name}.json").read_text(encoding="utf-8"))


def cases(name):
    """The cases of a file, each with the tolerance that holds for it."""
    vectors = read(name)
    return [{"tolerance": vectors["tolerance"], **case} for case in vectors["cases"]]


def every_case(name):
    """Run a test on every case of a file."""
    parameters = [pytest.param(case, id=f"{case['id']}-{case['comment']}") for case in cases(name)]
    return pytest.mark.parametrize("case", parameters)


def every_component_case(*names):
    """Run a test on every case of some families."""
    parameters = [
        pytest.param(name, case, id=f"{name}-{case['id']}-{case['comment']}")
        for name in names
        for case in cases(name)
    ]
    return pytest.mark.parametrize(("name", "case"), parameters)


def assert_close(case, results, expected):
    """Results are within the tolerance of the decimals that are expected."""
    relative, absolute = case["tolerance"]["relative"], case["tolerance"]["absolute"]
    expected = np.asarray(expected, dtype=float)
    np.testing.assert_allclose(results, expected, rtol=relative, atol=absolute)


def table(rows, prior):
    """Rows as an array, missing cells as NaN; there may be none of them."""
    n_columns = len(rows[0]) if rows else len(next(iter(prior.values())))
    return np.array(rows, dtype=float).reshape(len(rows), n_columns)


def component_of(twin, name, prior):
    return getattr(getattr(twin, name), FAMILIES[name])(**prior)


def clusters(twin, name, given):
    """A component with `rows` in slot 0, `other` in slot 1 and nothing in slot 2."""
    component = component_of(twin, name, given["prior"])
    component.resize(3)
    for k, (rows, weights) in enumerate((("rows", "weights"), ("other", "other_weights"))):
        X = table(given[rows], given["prior"])
        for row, weight in zip(X, given.get(weights, [1.0] * len(X)), strict=True):
            component.add(row, k, weight)
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


def one_cluster(twin, name, given, rows):
    """A partition of Rows with all of them together."""
    labels = np.zeros(len(rows), dtype=np.intp)
    return twin.partition.Partition(rows, labels, component_of(twin, name, given["prior"]), 1.0)


def members_left_out(twin, name, given, component):
    """Scores of members of one cluster by its statistics, or by its rows where those blur."""
    X, members = table(given["rows"], given["prior"]), given["left_out"]
    if not members:
        return []
    weights = np.array(given.get("weights", [1.0] * len(X)))
    partition = one_cluster(twin, name, given, twin.rows.Rows(X, weights))
    from_rows = [-partition.costs(i)[0] - partition.member_log_weight(i) for i in members]
    scores = [component.log_predictive_member(X[i], 0, weights[i]) for i in members]
    return [r if np.isnan(s) else s for s, r in zip(scores, from_rows, strict=True)]


@every_component_case(*FAMILIES)
def test_component(twin, name, case):
    given, expected = case["input"], case["expected"]
    (query,), weight = table([given["query"]], given["prior"]), given.get("query_weight", 1.0)
    component = clusters(twin, name, given)
    results = {
        "log_predictive_empty": component.log_predictive(query, 2, weight),
        "log_predictive": component.log_predictive(query, 0, weight),
        "log_predictive_member": members_left_out(twin, name, given, component),
        "log_marginal": component.log_marginal(0),
        "log_marginal_merged": component.log_marginal_merged(0, 1),
    }
    assert results.keys() == expected.keys()
    for key, result in results.items():
        assert_close(case, result, expected[key])


@every_component_case("dirichlet_multinomial")
def test_rows_stored_by_their_non_zeros(twin, name, case):
    given = case["input"]
    X = table(given["rows"], given["prior"])
    weights = np.array(given.get("weights", [1.0] * len(X)))
    partition = one_cluster(twin, name, given, compressed(twin, X, weights))
    result = partition.component.log_marginal(0) if len(X) else 0.0
    assert_close(case, result, case["expected"]["log_marginal"])


@every_case("map_dpm")
def test_map_dpm(twin, case):
    given, expected = case["input"], case["expected"]
    labels = np.array(given["labels"], dtype=np.intp)
    component = component_of(twin, "normal_gamma", given["prior"])
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


@pytest.mark.plain  # the generator imports nothing of the library
def test_the_files_are_what_the_generator_writes():
    command = [sys.executable, str(VECTORS / "generate.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
