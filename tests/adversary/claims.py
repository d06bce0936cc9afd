"""Whether what fits claim is true: each claim is compared with exact values and optima."""

import math
from dataclasses import dataclass

import numpy as np
from gmpy2 import mpq

from . import optima, problems
from .fits import ways
from .truth import Exact

ALLOWED = 1 + 4 * mpq(1, 2**52)  # four roundings: c itself is a rounded number
MOST = mpq(10) ** 300


@dataclass(frozen=True)
class Verdict:
    """What is wrong with the claim of a fit.

    Attributes
    ----------
    wrong : tuple of str
        Empty if the claim is true.
    excess : float
        ``P(coef) / objective - 1``, at most ``4 eps`` of what is true.
    overshoot : float
        ``bound / optimum - 1``, likewise.
    """

    problem: str
    fit: str
    status: str
    dual_gap: float
    wrong: tuple
    excess: float = -math.inf
    overshoot: float = -math.inf

    def __str__(self):
        return (
            f"{self.problem} {self.fit}: {', '.join(self.wrong) or 'true'} ({self.status}, gap "
            f"{self.dual_gap:.3g}; P(coef) / objective - 1 = {self.excess:.3g}, bound / optimum "
            f"- 1 = {self.overshoot:.3g})"
        )


def verdicts(problem, chosen=None):
    """Train on a problem in some ways, or in every one, and judge what is claimed."""
    found = []
    for way in ways(problem) if chosen is None else chosen:
        try:
            claims = way.train(problem)
        except Exception as error:  # whatever it is, there should have been a result
            wrong = f"{type(error).__name__}: {error}"
            found.append(Verdict(str(problem), str(way), "error", math.nan, (wrong,)))
        else:
            found += [judge(problem, claim) for claim in claims]
    return found


def verdicts_of(name):
    """The verdicts on every claim about the problem of this name."""
    return verdicts(problems.named(name))


def judge(problem, claim):
    """Compare a claim with the truth."""
    wrong = [*contradictions(claim)]
    numbers = (-math.inf, -math.inf)
    if not wrong or wrong == ["no warning"]:
        value, bound = inequalities(problem, claim)
        wrong += ["objective"] * (value > ALLOWED) + ["bound"] * (bound > ALLOWED)
        numbers = float(min(value - 1, MOST)), float(min(bound - 1, MOST))
    return Verdict(str(problem), claim.name, claim.status, claim.dual_gap, tuple(wrong), *numbers)


def contradictions(claim):
    """Yield what is wrong whatever the truth is."""
    if claim.status != "converged" and not claim.warned:
        yield "no warning"
    if claim.status == "converged" and not claim.dual_gap <= claim.tol:
        yield "converged above tol"
    if not np.isfinite([claim.objective, *claim.coef]).all():
        yield "not finite"
    elif not (claim.objective >= 0 and claim.dual_gap >= 0):
        yield "objective not positive, or gap negative or not a number"


def inequalities(problem, claim):
    """``P(coef) / objective`` and ``bound / optimum``, exactly; both are at most 1 if true."""
    objective = mpq(claim.objective)
    value = Exact.of(problem).objective(weights(problem, claim), claim.C)
    if claim.dual_gap >= 1:  # no bound at all
        return ratio(value, objective), mpq(0)
    bound = objective * (1 - mpq(claim.dual_gap))
    return ratio(value, objective), ratio(bound, optima.of(problem, claim.C))


def ratio(less, more):
    """How much of what it is not to be above; with a prior, that may be zero."""
    if more == 0:
        return mpq(0) if less == 0 else MOST
    return less / more


def weights(problem, claim):
    """The coefficients as weights; those of rows as the function that they stand for."""
    if claim.support is None:
        return claim.coef
    beta = [mpq(0)] * len(problem.y)
    for row, value in zip(claim.support, claim.coef, strict=True):
        beta[row] += mpq(float(value))
    return Exact.of(problem).space.combination(beta)
