"""Special functions."""

from collections.abc import Iterable

from mpmath import fsum, log, loggamma, mpf, pi, psi

from generators.format import case, decimal, vectors, within

POINTS = (
    *(1e-8, 1e-6, 1e-4, 0.001, 0.01, 0.1, 0.25, 1 / 3, 0.5, 0.75, 0.9999999, 1.0, 1.0000001),
    *(1.25, 1.4616321449683623, 1.5, 1.9999999, 2.0, 2.0000001, 2.5, 3.0, 3.141592653589793),
    *(5.0, 7.25, 9.5, 9.999999999999998, 10.0, 10.5, 20.0, 50.5, 100.0, 171.5, 1000.0),
    *(12345.678, 1e6, 1e7, 1e9, 1e12, 1e15),
)
ABOVE_THE_BOUND = (2.0**-20, 0.01, 0.5, 1.0, 7.25, 100.0, 12345.5, 1e9, 1e15)


def special() -> dict:
    """log-gamma and its relatives."""
    return vectors(
        "special",
        "Abramowitz & Stegun (1964), 6.1 and 6.3; Muirhead (1982), theorem 2.1.12",
        within(2e-14, 2e-14),
        [*map(special_case, POINTS), *multivariate_cases()],
    )


def special_case(x: float) -> dict:
    gamma = loggamma(mpf(x))
    expected = {
        "log_gamma": gamma,
        "log_gamma_half_step": loggamma(mpf(x) + 0.5) - gamma,
        "digamma": psi(0, mpf(x)),
        "trigamma": psi(1, mpf(x)),
    }
    return case(f"x = {x}", {"x": x}, {name: decimal(y) for name, y in expected.items()})


def multivariate_cases() -> Iterable[dict]:
    for p in (1, 2, 3, 5, 10, 40):
        yield from (multivariate_case(0.5 * (p - 1) + x, p) for x in ABOVE_THE_BOUND)


def multivariate_case(x: float, p: int) -> dict:
    value = mpf(p * (p - 1)) / 4 * log(pi) + fsum(loggamma(mpf(x) - mpf(j) / 2) for j in range(p))
    given = {"x": x, "p": p}
    return case(f"dimension {p}, x = {x}", given, {"multivariate_log_gamma": decimal(value)})
