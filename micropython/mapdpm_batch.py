"""What a board need not load to learn row by row: batch MAP-DPM, and dumps that outlive power cuts.

They work on a learner of `mapdpm_int`, `mapdpm_viper` or `mapdpm_native`. What its attributes and a
slot's numbers in `_slots` are, `mapdpm_int.MAPDPM.__init__` says.
"""

from struct import pack, unpack_from


def fit(m, rows, labels, max_sweeps):
    """Batch MAP-DPM (algorithm 1): visit every row in order, until a sweep moves none.

    A row is taken out of its cluster and put where the joint is best. It stays where it is if no
    other cluster is better; of the others that are equally good, it joins the one with the lowest
    label. Where it would found a cluster and no slot is free, it joins the best there is.

    Scores are rounded: where b0 is less than 10, so much that some rows may go to and fro for ever.
    Then `max_sweeps` ends it.

    Parameters
    ----------
    m : MAPDPM
        A learner that has seen no row; it knows all of them afterwards.
    rows : array('h'), length N * dim
        The table, row by row. Every number is in -2048..2047.
    labels : array('b') or list of int, length N
        The start; -1: the row is placed when it is visited. Changed in place.
    max_sweeps : int
        Sweeps at most.

    Returns
    -------
    int
        Sweeps done.

    Raises
    ------
    ValueError
        Before anything has changed: if `m` has learned rows, lengths or values are wrong, or the
        learner might have to forget. With c0 = p / q it can hold (15999 - p) // q rows, 1599 by
        default, whose sum of (x - m0)^2 is less than 500,000,000 in every column.
    """
    _check(m, rows, labels, max_sweeps)
    x = list(m._m0)
    # Sweep 0 counts the rows that have labels.
    for sweeps in range(max_sweeps + 1):
        moves = i = 0
        for row in range(len(labels)):
            for d in range(len(x)):
                x[d] = rows[i]
                i += 1
            k = own = labels[row]
            if sweeps:
                k = _moved(m, x, own)
                moves += k != own
                labels[row] = k
            if k >= 0:
                m.k += m.counts[k] < 1
                m.update(x, k, 1)
        if sweeps and not moves:
            break
    return sweeps


def _moved(m, x, own):
    """Take row `x` out of cluster `own`, if that is not -1; return the label it should have."""
    clusters = m._clusters
    width = m._width
    slots = m._slots
    stay = -1
    if own >= 0:
        m.update(x, own, -1)
        # A cluster of its own costs what a new one costs.
        stay = own if m.counts[own] else clusters
        # The least bonus there is: among equals, the row stays.
        stay *= width
        slots[stay] -= 1
    m.surprise(x, False)
    if own >= 0:
        slots[stay] += 1
    k = m._best
    if k * width == stay:
        return own
    if k == clusters:
        return m.counts.index(0) if m.k < k else m._second
    return k


def _check(m, rows, labels, max_sweeps):
    """Refuse what `fit` refuses."""
    dim = m._dim
    n = len(labels)
    wrong = m.k or max_sweeps < 0 or m._c0 + m._one * n > 15999
    wrong = wrong or min(labels) < -1 or max(labels) >= m._clusters
    wrong = wrong or len(rows) != n * dim or min(rows) < -2048 or max(rows) > 2047
    for d in range(dim):
        room = 499999999
        for i in range(d, len(rows), dim):
            y = rows[i] - m._m0[d]
            room -= y * y
            wrong = wrong or room < 0
    if wrong:
        raise ValueError("m is not new, or an argument is out of range")


def dump(m):
    """All that the learner `m` knows, as bytes; the same on every board.

    Numbers of four bytes, the lowest first: "DPM" and 3; dim, clusters, c0, 2 a0, 1024 alpha, the
    memory, m0 and b0; for every cluster its weight and its rows, and for every column the sums of
    x - m0 and of its square.
    The last four bytes are the Adler-32 of those before.
    """
    numbers = [m._dim, m._clusters, m._c0, m._one, m._two_a0, m._alpha, m._memory]
    numbers.extend(m._m0)
    numbers.extend(m._b0)
    i = 0
    for k in range(m._clusters):
        numbers.append(m.counts[k])
        numbers.append(m._slots[i + 2])
        for _ in range(m._dim):
            i += 3
            numbers.append(m._slots[i])
            numbers.append(m._slots[i + 1])
        i += 4
    b = pack("<4s%di" % len(numbers), b"DPM\x03", *numbers)  # noqa: UP031  (a V1 has no f-strings)
    return b + _adler(b, len(b))


def load(b, MAPDPM=None):
    """The learner that `dump` wrote: of the class `MAPDPM`, by default that of `mapdpm_int`.

    Raises
    ------
    ValueError
        If a byte is not as it was written, bytes are missing, or no learner could have dumped them.
    """
    if MAPDPM is None:
        from mapdpm_int import MAPDPM
    numbers = _numbers(b, _adler(b, len(b) - 4))
    dim, clusters, c0, one, two_a0, alpha, memory = numbers[:7]
    i = 7 + 2 * dim
    m0 = numbers[7 : 7 + dim]
    m = MAPDPM(
        dim, clusters, m0, numbers[7 + dim : i], (c0, one), (two_a0, 2), (alpha, 1024), memory
    )
    j = 0
    weights = 0
    for k in range(clusters):
        n = m.counts[k] = numbers[i]
        weights += n
        _check_slot(numbers[i : i + 2 * dim + 2], m0, (15999 - c0) // one, weights)
        m._slots[j + 2] = numbers[i + 1]
        i += 2
        for _ in range(dim):
            j += 3
            m._slots[j] = numbers[i]
            m._slots[j + 1] = numbers[i + 1]
            i += 2
        j += 4
        if n:
            m.k += 1
            m.update(m0, k, 0)
    return m


def _check_slot(numbers, m0, most, weights):
    """Refuse a slot of a dump that no learner has; `weights` is what the slots up to it weigh.

    There must be rows that have its sums, `most` at most. Else what a learner takes the logarithm
    of might not be positive, and it would never end.
    """
    weight, n = numbers[:2]
    wrong = weight < 0 or n < 0 or (weight < 1) != (n < 1) or n > weight + 9 or n > most
    wrong = wrong or weights > 16384
    for d in range(len(m0)):
        total = numbers[2 * d + 2]
        mean = total // (n or 1)
        # The least sum of squares of n ints of this sum: they differ by one at most.
        least = mean * (2 * total - mean * n) + total - mean * n
        wrong = wrong or not least <= numbers[2 * d + 3] <= 499999999 * (n > 0)
        wrong = wrong or not (-2048 - m0[d]) * n <= total <= (2047 - m0[d]) * n
    if wrong:
        raise ValueError("damaged dump")


def _numbers(b, checksum):
    """The numbers of a dump that is whole: its last bytes are the `checksum` of the others."""
    n = len(b) - 4
    if n > 31 and bytes(b[:4]) == b"DPM\x03" and bytes(b[n:]) == checksum:
        numbers = unpack_from("<%di" % (n // 4 - 1), b, 4)  # noqa: UP031
        dim, clusters = numbers[:2]
        if dim > 0 < clusters and n == 8 * (4 + dim + clusters * (dim + 1)):
            return numbers
    raise ValueError("damaged dump")


def _adler(b, n):
    """Adler-32 of the first `n` bytes, its highest byte first."""
    s = 1
    t = 0
    for i in range(n):
        s = (s + b[i]) % 65521
        t = (t + s) % 65521
    return bytes([t >> 8, t & 255, s >> 8, s & 255])
