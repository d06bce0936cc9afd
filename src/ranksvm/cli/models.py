"""The commands that look at models and change their form: ``ranksvm info | convert``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..names import EXPORTS, MODEL_FORMS
from .options import Input, Output

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from ..jobs.checking import Checked
    from ..models import LinearModel, Model

_SHOWN_NAMES = 8


def add_info(commands: Any) -> None:
    """Add the command to what ``ArgumentParser.add_subparsers`` returned."""
    info = commands.add_parser(
        "info",
        description="Tell what a model file holds: its form, features, parameters and certificate, "
        "and the data it was trained on; or write its weights. Of a folder of packed data, tell "
        "what is in it.",
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
        description="Read a model of any form, or weights as text, one per line, and write it in "
        "another: JSON, safetensors, a model of LIBLINEAR-ranksvm, of SVM^rank, or weights; or as "
        "a search engine, a database or a runtime takes it.",
    )
    convert.set_defaults(run=_convert, parser=convert)
    convert.add_argument("source", type=Input, metavar="SOURCE", help="model file, or - for stdin")
    convert.add_argument(
        "target", type=Output, metavar="TARGET", help="file to write, or - for stdout"
    )
    convert.add_argument(
        "--to",
        choices=[*MODEL_FORMS, *EXPORTS],
        help="default: json or safetensors, as the name of TARGET says",
    )
    served = convert.add_argument_group("for engines", f"--to {', '.join(EXPORTS)}")
    served.add_argument("--name", default="ranksvm", help="of the model there (default: ranksvm)")
    served.add_argument(
        "--names",
        type=Input,
        metavar="FILE",
        help="names of the features, one per line, where the model has none or others are wanted",
    )
    served.add_argument(
        "--nonnegative",
        action="store_true",
        help="weigh a feature called constant, which is 1 for all documents, so that no score is "
        "negative for features within the ranges of --check DATA",
    )
    served.add_argument(
        "--check",
        type=Input,
        metavar="DATA",
        help="rows of any kind: say how many pairs of its rows single precision ranks otherwise",
    )
    convert.add_argument("-q", "--quiet", action="store_true", help="print errors only")


def _info(args: argparse.Namespace) -> None:
    from ..disk.folder import is_packed
    from ..files.atomic import check_output
    from ..files.foreign_models import save_weights
    from ..files.model import model_form, parse_model
    from ..files.source import read_bytes
    from ..models.from_estimators import linear_model_of

    if is_packed(args.model):
        if args.weights is not None:
            raise InputError(f"{args.model} holds packed data, which have no weights")
        _write_lines(_description_of_data(args.model))
        return
    if args.weights is not None:
        check_output(args.weights)
    name, content = read_bytes(args.model)
    model = parse_model(name, content)
    if args.weights is not None:
        save_weights(linear_model_of(model, name), args.weights)
        return
    _write_lines(_description(model, model_form(content[:64].tobytes())))


def _write_lines(lines: list[tuple[str, str]]) -> None:
    for title, text in lines:
        sys.stdout.write(f"{title:14}{_printable(text)}\n")


def _description_of_data(path: str) -> list[tuple[str, str]]:
    """Return what is known of packed data, line by line."""
    from ..disk.data import open_data

    data = open_data(path)
    lines = [("packed data", data.description)]
    if data.feature_names:
        lines.append(("names", _first_names(data.feature_names)))
    return lines + [("source", f"{source.name}, {source.bytes} bytes") for source in data.sources]


def _description(model: Model, form: str | None) -> list[tuple[str, str]]:
    """Return what is known of a model, line by line."""
    training = dict(model.training)
    lines = _description_of_kind(model, form)
    if model.feature_names:
        lines.append(("names", _first_names(model.feature_names)))
    if model.parameters:
        lines.append(("parameters", _pairs(model.parameters)))
    for title, key in [("objective", "objective"), ("relative gap", "dual_gap")]:
        if key in training:
            lines.append((title, _shown(training.pop(key))))
    members = training.pop("members", None)
    for number, one in enumerate(members if isinstance(members, list) else [], 1):
        if isinstance(one, dict):
            lines.append((f"member {number}", _pairs(_flat(one))))
    records = {name: training.pop(name, None) for name in ("validation", "fingerprint")}
    training.pop("n_at_bounds", None)
    if training:
        lines.append(("training", _pairs(training)))
    lines += [(name, _pairs(one)) for name, one in records.items() if isinstance(one, dict)]
    return lines


def _first_names(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN_NAMES]) + (", ..." if len(names) > _SHOWN_NAMES else "")


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


def _flat(member: dict[str, Any]) -> dict[str, Any]:
    """Return what is said of a member of a mean, its settings first."""
    params = member.get("params")
    settings = params if isinstance(params, dict) else {}
    known = {name: value for name, value in settings.items() if value is not None}
    return {**known, **{name: value for name, value in member.items() if name != "params"}}


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
    if args.to in EXPORTS:
        _export(args)
        return
    for option in ("names", "check", "nonnegative"):
        if getattr(args, option):
            args.parser.error(f"--{option} is for {', '.join(EXPORTS)}: say --to one of them")
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


def _export(args: argparse.Namespace) -> None:
    from ..export import export_model
    from ..files.conversion import load_model_or_weights

    model = load_model_or_weights(args.source)
    if args.nonnegative and args.check is None:
        raise InputError("--nonnegative needs --check DATA, whose ranges bound the scores")
    checked = None if args.check is None else _checked(args.check, model)
    export_model(
        model,
        args.target,
        args.to,
        name=args.name,
        feature_names=None if args.names is None else _names(args.names),
        offset="nonnegative" if args.nonnegative else None,
        X=None if checked is None else checked.ranges,
    )
    if checked is not None and checked.total and not args.quiet:
        sys.stderr.write(
            f"note: of {checked.total:,.0f} pairs of rows of {args.check}, single precision ranks "
            f"{checked.changed:,.0f} otherwise\n"
        )


def _checked(path: str, model: Model) -> Checked | None:
    """Check a linear model on rows, some at a time; others cannot be exported."""
    from ..jobs.checking import check
    from ..jobs.data import Reading, stream_data
    from ..jobs.rows import all_fit
    from ..models import LinearModel

    if not isinstance(model, LinearModel):
        return None
    from_zero = model.training.get("zero_based") is True
    names = model.feature_names
    reading = Reading(of_model=names, labelled=False, zero_based=from_zero or "auto", note=_say)
    return check(model, all_fit(stream_data(path, reading), model, _say))


def _say(note: str) -> None:
    sys.stderr.write(f"{note}\n")


def _names(path: str) -> list[str]:
    from ..files.source import DataError, read_bytes

    name, content = read_bytes(path)
    try:
        lines = content.tobytes().decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise DataError(f"{name}: not UTF-8 text, from byte {error.start + 1} on") from None
    if "" in lines:
        raise DataError(f"{name}, line {lines.index('') + 1}: expected a name, found nothing")
    return lines
