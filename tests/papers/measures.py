"""What the paper's tables print: agreement of clusterings, and cells of tables."""

import numpy as np
from sklearn.metrics import adjusted_mutual_info_score, normalized_mutual_info_score

#: Names of what `agreement` returns.
AGREEMENT = ("NMI sum", "NMI max", "AMI")


def nmi_sum(truth, labels):
    """2 I(U, V) / (H(U) + H(V)). The paper prints H(U, V) where it means the information I."""
    return normalized_mutual_info_score(truth, labels, average_method="arithmetic")


def agreement(truth, labels):
    """NMI by the sum and by the maximum of the entropies, and AMI, of Vinh et al. (2010)."""
    return [
        nmi_sum(truth, labels),
        normalized_mutual_info_score(truth, labels, average_method="max"),
        adjusted_mutual_info_score(truth, labels, average_method="max"),
    ]


def spread(values, digits):
    """The mean, and two standard deviations in brackets."""
    return f"{np.mean(values):,.{digits}f} ({2.0 * np.std(values):,.{digits}f})"


def markdown(header, rows):
    """A table, its columns aligned."""
    cells = [[str(cell) for cell in row] for row in [header, *rows]]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    cells.insert(1, ["-" * width for width in widths])
    lines = (
        " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in cells
    )
    return "\n".join(f"| {line} |" for line in lines)


def table(title, found, digits=2):
    """A titled table from {row: {column: value}}."""
    columns = list(next(iter(found.values())))
    rows = [[row, *(f"{values[c]:.{digits}f}" for c in columns)] for row, values in found.items()]
    return f"{title}\n\n{markdown(['', *columns], rows)}\n"
