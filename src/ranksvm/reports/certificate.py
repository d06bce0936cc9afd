"""How close a model is to the optimum, and how it came there."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Context, Decimal, localcontext
from typing import Any

from ..models import LinearModel
from .charts import curve
from .layout import Section, facts, figures, heading, opening, paragraph, table
from .markup import Markup, element
from .subjects import Subject
from .texts import at_least, at_most, counted, number

_ITERATIONS = 30
_FACTS = {
    "status": "Ended",
    "n_iter": "Iterations",
    "n_passes": "Passes over the features",
    "n_pairs": "Preference pairs",
    "n_queries": "Queries",
    "n_at_bounds": "Weights at a bound",
}


def certificate(subject: Subject) -> Section:
    """Return what the training claims, and its course where that is known."""
    training = subject.model.training
    content = [_claim(training), facts(_facts(subject))]
    if len(subject.history) > 1:
        content += [heading("How it was reached"), figures(_course(subject.history)), _log(subject)]
    members = training.get("members")
    if isinstance(members, list):
        content.append(_members([one for one in members if isinstance(one, dict)]))
    if subject.model.parameters:
        content.append(_parameters(subject.model.parameters))
    return Section("certificate", "Certificate", content)


def gap_in_words(training: dict[str, Any]) -> str:
    """Return by how much of itself the objective may lie above the optimum."""
    gap = training.get("dual_gap")
    return "not known" if gap is None else f"{at_most(100 * Decimal(gap), 2)} %"


def _claim(training: dict[str, Any]) -> Markup:
    members = training.get("members")
    if isinstance(members, list):
        return paragraph(
            f"The model is the mean of {len(members)} rankers. Each minimises an objective of its "
            "own, which other weights could lower by at most ",
            element("strong", gap_in_words(training)),
            ". This is proved by dual points. The mean itself minimises nothing.",
        )
    objective, gap = training.get("objective"), training.get("dual_gap")
    if objective is None or gap is None:
        return paragraph(
            "The model does not say how it was trained, so that there is no certificate. Models "
            "that this package trains and writes as JSON or safetensors have one.",
            class_="note",
        )
    return paragraph(
        "The optimum of the training objective lies between ",
        element("strong", at_least(_bound(objective, gap), 9)),
        " and ",
        element("strong", at_most(Decimal(objective), 9)),
        ", the objective of this model: other weights could lower it by at most ",
        element("strong", gap_in_words(training)),
        ". This is proved by a dual point, and does not rest on the rule by which the solver "
        "stopped.",
    )


def _bound(objective: float, gap: float) -> Decimal:
    """Return the lower bound of the optimum, which rounding may only lower."""
    with localcontext(Context(prec=60, rounding=ROUND_FLOOR)):
        return Decimal(objective) * (1 - Decimal(gap))


def _facts(subject: Subject) -> list[tuple[str, Any]]:
    model, training = subject.model, subject.model.training
    found: list[tuple[str, Any]] = [("Model", subject.kind), ("Features", number(model.n_features))]
    if isinstance(model, LinearModel):
        n_nonzero = int((model.weights.values != 0).sum())
        found.append(("Weights that are not zero", number(n_nonzero)))
    else:
        found.append(("Support vectors", number(len(model.dual_coef))))
    if "objective" in training:
        found.append(("Objective", at_most(Decimal(training["objective"]), 9)))
    if "dual_gap" in training:
        found.append(("Relative duality gap", at_most(Decimal(training["dual_gap"]), 3)))
    found += [(title, number(training[key])) for key, title in _FACTS.items() if key in training]
    if subject.history:
        solvers = dict.fromkeys(line.solver for line in subject.history if line.solver)
        found.append(("Solver", ", ".join(solvers)))
    return found


def _course(history: list[Any]) -> Markup:
    known = [line for line in history if 0 < line.dual_gap < float("inf")]
    description = (
        f"The gap falls from {number(known[0].dual_gap, 3)} to {number(known[-1].dual_gap, 3)} in "
        f"{counted(known[-1].n_passes, 'pass', 'passes')} over the features."
        if known
        else "No gap is known."
    )
    return curve(
        "Relative duality gap by passes over the features",
        description,
        [float(line.n_passes) for line in known] or [0.0],
        [line.dual_gap for line in known] or [1.0],
        ("passes over the features", "relative duality gap"),
        logarithmic=True,
        points=len(known) <= _ITERATIONS,
    )


def _log(subject: Subject) -> Markup:
    history = subject.history
    shown = history if len(history) <= _ITERATIONS else history[-_ITERATIONS:]
    title = "Iterations" if shown is history else f"The last {_ITERATIONS} iterations"
    rows = [
        (
            number(line.iteration),
            line.solver,
            number(line.value, 9),
            number(line.dual_gap, 3),
            number(line.step, 3),
            number(line.n_passes),
        )
        for line in shown
    ]
    header = ["Iteration", "Solver", "Objective", "Gap", "Step", "Passes"]
    return opening(title, table(title, header, rows))


def _members(members: list[dict[str, Any]]) -> Markup:
    columns = {"share": "Share", "objective": "Objective", "dual_gap": "Gap", "status": "Ended"}
    rows = [
        (_settings(one.get("params")), *(_rounded(one.get(name)) for name in columns))
        for one in members
    ]
    return opening("Members of the mean", table("Members", ["Settings", *columns.values()], rows))


def _settings(params: Any) -> str:
    known = params.items() if isinstance(params, dict) else ()
    return ", ".join(f"{name}={_rounded(value)}" for name, value in known if value is not None)


def _rounded(value: Any) -> str:
    return number(value, 6) if isinstance(value, float) else _value(value)


def _parameters(parameters: dict[str, Any]) -> Markup:
    rows = [(name, _value(value)) for name, value in parameters.items()]
    title = "Parameters of the training"
    return opening(title, table(title, ["Parameter", "Value"], rows, kind="prose"))


def _value(value: Any) -> str:
    if isinstance(value, dict | list) and len(value) > 8:
        return f"of {len(value)} features"
    return "none" if value is None else str(value)
