"""
Draw what training on packed data takes, by their size: seconds, and bytes of memory a row.

    python -m benchmarks.growth

It measures nothing: the records are those of ``python -m benchmarks.disk``, of which the last one
counts where something was measured twice.
"""

import json
from typing import Any

from benchmarks.disk import RECORDS
from benchmarks.report import Page, draw_curve, new_figure, styles

NAMES = {"dense": "dense", "csr": "CSR"}
TREES = {"trees": "XGBoost, 100 rounds", "beside trees": "squared hinge, the same queries"}
LOSSES = {"squared_hinge": "squared hinge", "hinge": "hinge"}


def main() -> None:
    """Write the page, with its figure."""
    records = last_of_each(json.loads(RECORDS.read_text()))
    page = Page("disk", "Data larger than memory")
    trainings = [record for record in records if record["what"] in ("mapped", "in memory")]
    page.table(
        "Training to a gap of 1e-6",
        ("data", "GB", "rows", "where", "loss", "passes", "seconds", "of reading", "bytes a row"),
        map(row_of_training, trainings),
        "training",
    )
    others = [record for record in records if record["what"] in ("pack", "text", *TREES)]
    page.table(
        "Packing, and XGBoost of 100 rounds",
        ("what", "data", "GB", "seconds", "MB of memory", "nDCG@10", "pairwise accuracy"),
        map(row_of_other, others),
        "others",
    )
    draw(page, records)
    page.write()


def last_of_each(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the last record of each thing that was measured, by size."""
    names = ("what", "kind", "loss", "gigabytes")
    last = {tuple(str(record.get(name)) for name in names): record for record in records}
    return sorted(last.values(), key=lambda record: record["gigabytes"])


def row_of_training(record: dict[str, Any]) -> tuple[Any, ...]:
    """Return a row of the table; seconds also as a multiple of reading X as many times."""
    gigabytes = record["bytes_of_X"] / 1e9
    of_reading = record["seconds"] / (1e3 * gigabytes * record["passes"] / record["rate"])
    return (
        NAMES[record["kind"]], gigabytes, record["rows"], record["what"], LOSSES[record["loss"]],
        record["passes"], record["seconds"], of_reading, record["bytes"] / record["rows"],
    )  # fmt: skip


def row_of_other(record: dict[str, Any]) -> tuple[Any, ...]:
    """Return a row of the table."""
    seconds = record.get("seconds", record.get("outcome"))
    memory = record["bytes"] / 1e6 if "bytes" in record else None
    kind = NAMES.get(record.get("kind", ""), "SVMlight text")
    quality = record.get("nDCG@10"), record.get("pairwise accuracy")
    return (
        TREES.get(record["what"], record["what"]),
        kind,
        record["gigabytes"],
        seconds,
        memory,
        *quality,
    )


def draw(page: Page, records: list[dict[str, Any]]) -> None:
    """Draw seconds against gigabytes, both from zero, so that what is linear is a line."""
    curves: dict[str, list[tuple[float, float]]] = {}
    for record in records:
        name = name_of_curve(record)
        if name is not None and "seconds" in record:
            curves.setdefault(name, []).append((record["gigabytes"], record["seconds"]))
    figure, [[axes]] = new_figure(1, 1, (6, 3.8))
    for name, style in styles(curves).items():
        draw_curve(axes, *zip(*curves[name], strict=True), style)
    axes.set(xlabel="GB of X on disk", ylabel="seconds", xlim=(0, None), ylim=(0, None))
    axes.grid(True, alpha=0.3)
    axes.legend(fontsize="small")
    page.figure("growth", figure, "Seconds of training on packed data, by their size")


def name_of_curve(record: dict[str, Any]) -> str | None:
    """Return what the figure calls a record; None if it shows it not."""
    if record["what"] == "mapped":
        return f"{NAMES[record['kind']]}, {LOSSES[record['loss']]}"
    return TREES["trees"] if record["what"] == "trees" else None


if __name__ == "__main__":
    main()
