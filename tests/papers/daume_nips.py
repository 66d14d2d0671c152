"""Section 4.3 of Daumé (2007): 1,740 papers of NIPS 1-12, their clusters' words, and orders.

    DPMLITE_DATA=FOLDER python3 tests/papers/daume_nips.py [SECONDS]

prints Table 1 and what section 4.3 says beside ours; samplers get SECONDS each (60). It needs
scipy, and nips12.npz and nips12.vocab.txt, see real_tables.py.

The paper keeps 1,000 of some 13,000 words after dropping the ten most frequent. Its log likelihoods
have the prior of sizes, eq. (2), and the multinomial coefficients of the documents, and so have
those of "sizes" here. All other numbers are joints of labels and the sequences of words.
"""

import itertools
import sys
from time import perf_counter, process_time

import numpy as np
from real_tables import table_path

from dpmlite import CollapsedGibbs, DPSearch
from dpmlite.estimators.fitted.numbering import largest_first

N_DROPPED, N_WORDS = 10, 1000
MODEL = {"component": "dirichlet-multinomial", "alpha": 1.0, "prior": {"beta0": 10.0}}
N_RANDOM_ORDERS = 10

#: What the paper prints: log likelihoods, seconds and clusters.
PAPER = {"ascending": 2.4407e6, "descending": 2.4740e6, "random": 2.4489e6}
PAPER_SAMPLERS = {"Gibbs": 3.2e6, "split-merge": 3.0e6}
PAPER_SECONDS, PAPER_CLUSTERS = 21, 14
SAMPLERS = {"Gibbs": None, "split-merge": "interleaved"}


def load():
    """The counts as a scipy.sparse matrix, and the words."""
    from scipy import sparse

    with np.load(table_path("nips12.npz")) as parts:
        X = sparse.csr_matrix(
            (
                parts["data"].astype(float),
                parts["indices"].astype(np.intp),
                parts["indptr"].astype(np.intp),
            ),
            shape=tuple(parts["shape"]),
        )
    words = np.array(table_path("nips12.vocab.txt").read_text(encoding="utf-8").split())
    totals = np.asarray(X.sum(axis=0)).ravel()
    kept = np.sort(np.argsort(-totals, kind="stable")[N_DROPPED : N_DROPPED + N_WORDS])
    return X[:, kept].tocsr(), words[kept]


def search(X, **parameters):
    """A fitted search, and its seconds of processor time."""
    start = process_time()
    model = DPSearch(**MODEL, **parameters).fit(X)
    return model, process_time() - start


def sampled(X, split_merge, seconds):
    """The best joint of a chain from one cluster that lasts so many seconds."""
    labels, least, sweeps, start = "single", np.inf, 0, perf_counter()
    while perf_counter() - start < seconds:
        model = CollapsedGibbs(
            **MODEL,
            init=labels,
            split_merge=split_merge,
            n_samples=20,
            burn_in=0,
            random_state=sweeps,
        ).fit(X)
        labels, least = model.labels_samples_[-1], min(least, model.neg_log_joint_)
        sweeps += 20
    return least, sweeps


def indicative_words(X, labels, words, n_words=20, n_clusters=10):
    """The words with the greatest tf-idf in each of the largest clusters, as in Table 1."""
    X, labels = X.tocsr(), largest_first(labels)
    idf = np.log(X.shape[0] / np.maximum(np.asarray((X > 0).sum(axis=0)).ravel(), 1))
    tables = []
    for k in range(min(n_clusters, labels.max() + 1)):
        tf = np.asarray(X[labels == k].sum(axis=0)).ravel()
        tables.append(words[np.argsort(-tf * idf, kind="stable")[:n_words]].tolist())
    return tables


def log_coefficients(X):
    """Log of the number of sequences of words that have the counts of all documents."""
    from scipy.special import gammaln

    totals = np.asarray(X.sum(axis=1)).ravel()
    return gammaln(totals + 1.0).sum() - gammaln(X.data + 1.0).sum()


def orders(X, beam, prior_score):
    """Scores of searches without refinement: of each order, and of ten random ones."""

    def score(**parameters):
        found, _ = search(X, beam=beam, refine=False, prior_score=prior_score, **parameters)
        return found.neg_log_score_

    scores = {order: score(order=order) for order in ("ascending", "descending")}
    scores["random"] = np.array(
        [score(order="random", random_state=i) for i in range(N_RANDOM_ORDERS)]
    )
    return scores


def main(seconds):
    X, words = load()
    for prior_score, beam in itertools.product(("partition", "sizes"), (1, 10)):
        found, taken = search(X, beam=beam, refine=False, prior_score=prior_score)
        print(
            f"{prior_score}, beam {beam}: {taken:.2f} s (paper {PAPER_SECONDS}), "
            f"{found.n_clusters_} clusters (paper {PAPER_CLUSTERS}), "
            f"neg_log_joint {found.neg_log_joint_:.0f}"
        )
        constant = log_coefficients(X) if prior_score == "sizes" else 0.0
        for order, score in orders(X, beam, prior_score).items():
            deviation = f" (std {np.std(score):.0f})" if order == "random" else ""
            theirs = f"   paper {PAPER[order]:.0f}" if prior_score == "sizes" else ""
            print(f"    {order:<10} {np.mean(score) - constant:.0f}{deviation}{theirs}")
    for refine in ("quick", True):
        refined, taken = search(X, beam=1, refine=refine, random_state=0)
        print(
            f"beam 1, refine={refine!r}: {taken:.2f} s, {refined.n_clusters_} clusters, "
            f"neg_log_joint {refined.neg_log_joint_:.0f}"
        )
    for name, split_merge in SAMPLERS.items():
        least, sweeps = sampled(X, split_merge, seconds)
        print(
            f"{name}, {seconds:g} s, {sweeps} sweeps: neg_log_joint {least:.0f}   "
            f"paper {PAPER_SAMPLERS[name]:.0f} in an hour"
        )
    print("\nMost indicative words of the ten largest clusters of the search (Table 1):\n")
    for line in indicative_words(X, found.labels_, words):
        print("   ", " ".join(line))


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 60.0)
