"""The commands that look at models and change their form: ``ranksvm info | convert``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ..names import MODEL_FORMS
from .options import Input, Output

if TYPE_CHECKING:
    import argparse

    from ..models import LinearModel, Model

_SHOWN_NAMES = 8


def add_info(commands: Any) -> None:
    """Add the command to what ``ArgumentParser.add_subparsers`` returned."""
    info = commands.add_parser(
        "info",
        help="tell what a model is",
        description="Tell what a model file holds: its form, features, parameters and certificate, "
        "and the data it was trained on; or write its weights.",
    )
    info.set_defaults(run=_info, parser=info)
    info.add_argument(
        "model", type=Input, metavar="MODEL", help="model file of any form, or - for stdin"
    )
    info.add_argument(
        "--weights",
        type=Output,
        metavar="FILE",
        nargs="?",
        const="-",
        help="write the weights instead, one per line (default: stdout)",
    )


def add_convert(commands: Any) -> None:
    """Add the command to what ``ArgumentParser.add_subparsers`` returned."""
    convert = commands.add_parser(
        "convert",
        help="write a model in another form",
        description="Read a model of any form, or weights as text, one per line, and write it in "
        "another: JSON, safetensors, a model of LIBLINEAR-ranksvm, of SVM^rank, or weights.",
    )
    convert.set_defaults(run=_convert, parser=convert)
    convert.add_argument("source", type=Input, metavar="SOURCE", help="model file, or - for stdin")
    convert.add_argument(
        "target", type=Output, metavar="TARGET", help="file to write, or - for stdout"
    )
    convert.add_argument(
        "--to", choices=MODEL_FORMS, help="default: json or safetensors, as the name of TARGET says"
    )
    convert.add_argument("-q", "--quiet", action="store_true", help="print errors only")


def _info(args: argparse.Namespace) -> None:
    from ..files.atomic import check_output
    from ..files.foreign_models import save_weights
    from ..files.model import model_form, parse_model
    from ..files.source import read_bytes
    from ..models.from_estimators import linear_model_of

    if args.weights is not None:
        check_output(args.weights)
    name, content = read_bytes(args.model)
    model = parse_model(name, content)
    if args.weights is not None:
        save_weights(linear_model_of(model, name), args.weights)
        return
    for title, text in _description(model, model_form(content[:64].tobytes())):
        sys.stdout.write(f"{title:14}{_printable(text)}\n")


def _description(model: Model, form: str | None) -> list[tuple[str, str]]:
    """Return what is known of a model, line by line."""
    training = dict(model.training)
    lines = _description_of_kind(model, form)
    if model.feature_names:
        more = ", ..." if len(model.feature_names) > _SHOWN_NAMES else ""
        lines.append(("names", ", ".join(model.feature_names[:_SHOWN_NAMES]) + more))
    if model.parameters:
        lines.append(("parameters", _pairs(model.parameters)))
    for title, key in [("objective", "objective"), ("relative gap", "dual_gap")]:
        if key in training:
            lines.append((title, _shown(training.pop(key))))
    mark = training.pop("fingerprint", None)
    training.pop("n_at_bounds", None)
    if training:
        lines.append(("training", _pairs(training)))
    if isinstance(mark, dict):
        lines.append(("fingerprint", _pairs(mark)))
    return lines


def _description_of_kind(model: Model, form: str | None) -> list[tuple[str, str]]:
    from ..models import LinearModel

    if isinstance(model, LinearModel):
        return _description_of_linear(model, form)
    from ..files.kernel_model import kernel_fields

    kernel = kernel_fields(model)
    scaled = "" if model.scale is None else ", each multiplied by its scale first"
    return [
        ("model", f"kernel, {form}"),
        ("kernel", " ".join([kernel.pop("name"), _pairs(kernel)]).strip()),
        ("features", f"{model.n_features}{scaled}"),
        ("support", f"{len(model.dual_coef)} vectors"),
    ]


def _description_of_linear(model: LinearModel, form: str | None) -> list[tuple[str, str]]:
    n_nonzero = int((model.weights.values != 0).sum())
    n_at_bounds = model.training.get("n_at_bounds")
    at_bounds = "" if n_at_bounds is None else f", and {n_at_bounds} are at a bound"
    if not model.maps:
        features = f"{model.n_features}, of which {n_nonzero} have a weight"
        return [("model", f"linear, {form}"), ("features", features + at_bounds)]
    return [
        ("model", f"linear, {form}"),
        ("features", str(model.n_features)),
        *((f"map {number}", one.description) for number, one in enumerate(model.maps, 1)),
        ("weights", f"{model.weights.n_features}, of which {n_nonzero} are not zero{at_bounds}"),
    ]


def _pairs(content: dict[str, Any]) -> str:
    return ", ".join(f"{key}={_shown(value)}" for key, value in content.items())


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, dict):
        return f"of {len(value)} features"
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def _printable(text: str) -> str:
    """Escape what could command a terminal, or has no place there: the text is that of the file."""
    text = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)
    encoding = sys.stdout.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def _convert(args: argparse.Namespace) -> None:
    from ..files.atomic import check_output
    from ..files.conversion import convert_model

    check_output(args.target)
    model = convert_model(args.source, args.target, args.to)
    if args.to in (None, "json", "safetensors") or args.quiet:
        return
    lost = [
        name
        for name, content in [
            ("feature names", model.feature_names),
            ("parameters", model.parameters),
            ("training information", set(model.training) - {"converted_from", "zero_based"}),
        ]
        if content
    ]
    if lost:
        sys.stderr.write(f"note: {args.to} has no place for the {', '.join(lost)}\n")
    if model.training.get("zero_based") is True:
        sys.stderr.write(
            "note: the model was trained on features counted from zero; here they count from one\n"
        )
