"""Feeds a learner the stream of vector.txt and holds its answers against those of the reference.

Runs on CPython and on every board: as main.py, with the stream as vector.txt and a learner.py that
has the class. It prints one line, or raises. Answers are asked for with the heap locked: none of
them may allocate.
"""

try:
    from micropython import heap_lock, heap_unlock
except ImportError:

    def heap_lock():
        """Nothing to lock on CPython."""

    heap_unlock = heap_lock


def answers(m, rows):
    """Rolling hash of all that the learner answers to the rows."""
    # Every other row is learned without a scan.
    value = i = 0
    for x in rows:
        heap_lock()
        k = m.predict(x)
        value = (value * 31 + m.surprise(x) + 7) % 65521
        value = (value * 31 + k + 7) % 65521
        value = (value * 31 + m.learn(x, i & 1) + 7) % 65521
        i += 1  # noqa: SIM113  (a micro:bit has little heap)
        if not i & 63:
            value = (value * 31 + m.merge() + 7) % 65521
        heap_unlock()
    return value


def rows_of(stream):
    """Rows of a file, one after the other, in a list that is used again."""
    x = []
    line = stream.readline()
    while line:
        x[:] = [int(word) for word in line.split()]
        yield x
        line = stream.readline()


if __name__ == "__main__":
    from learner import MAPDPM

    stream = open("vector.txt")  # noqa: SIM115  (a micro:bit has little stack)
    m = MAPDPM(*[eval(argument) for argument in stream.readline().split(";")])
    n, expected, counts = eval(stream.readline())
    value = answers(m, rows_of(stream))
    if value != expected or m.counts != counts or m.k != len(counts) - counts.count(0):
        raise ValueError((value, expected, m.counts, counts))
    print("ok", n, value)
