"""Commands on the page: their help as the program prints it, and what they print when run.

::

    .. command-help:: train

    .. terminal::

       $ ranksvm train train.svm model.json

A ``terminal`` runs its lines while the site is built, all those of a page in one empty folder;
a command that fails is a warning. With ``:status: 2`` all of them have to end with that. With
``:hidden:`` they are run and not shown. A page with ``command-help`` must have one for every
command.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from ranksvm.cli.program import COMMANDS, build_parser

logger = logging.getLogger(__name__)
ROOT = Path(__file__).parents[2]
WIDTH = "88"


def parsers() -> dict[str, argparse.ArgumentParser]:
    """Return the parsers of all commands, by names such as "", "train" and "plot ndcg"."""
    found: dict[str, argparse.ArgumentParser] = {}
    for command in COMMANDS:
        found |= _parsers_of(build_parser(command), "")
    return {**found, "": build_parser()}


def _parsers_of(parser: argparse.ArgumentParser, name: str) -> dict[str, argparse.ArgumentParser]:
    found = {name: parser}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command, of_command in action.choices.items():
                found |= _parsers_of(of_command, f"{name} {command}".strip())
    return found


def _literal(text: str, language: str) -> list[nodes.Node]:
    block = nodes.literal_block(text, text)
    block["language"] = language
    return [block]


class CommandHelp(SphinxDirective):
    """What ``ranksvm COMMAND --help`` prints; without a command, ``ranksvm --help``."""

    optional_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Return the help as a block of text."""
        name = self.arguments[0] if self.arguments else ""
        shown = self.env.temp_data.setdefault("commands_shown", set())
        shown.add(name)
        os.environ["COLUMNS"] = WIDTH
        return _literal(parsers()[name].format_help(), "text")


class Terminal(SphinxDirective):
    """Commands that are run, and what they print."""

    has_content = True
    option_spec = {  # noqa: RUF012
        "hidden": directives.flag,
        "status": directives.nonnegative_int,
    }

    def run(self) -> list[nodes.Node]:
        """Run the lines, and return them with their output."""
        lines = [self._run(line) for line in self.content if line.startswith("$ ")]
        return [] if "hidden" in self.options else _literal("\n".join(lines), "console")

    def _run(self, line: str) -> str:
        result = subprocess.run(
            line.removeprefix("$ "),
            shell=True,
            cwd=self._folder(),
            env={
                **os.environ,
                "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
                "ROOT": str(ROOT),
                "COLUMNS": WIDTH,
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if result.returncode != self.options.get("status", 0):
            logger.warning("%s: %s", line, result.stdout, location=self.get_location())
        return f"{line}\n{result.stdout}".rstrip("\n")

    def _folder(self) -> Path:
        """Return the folder of the page, empty at its first command."""
        folder = Path(self.env.doctreedir, "terminal", self.env.docname.replace("/", "-"))
        if not self.env.temp_data.setdefault("terminal_begun", False):
            self.env.temp_data["terminal_begun"] = True
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        return folder


def check_commands(app: Sphinx, _: nodes.document) -> None:
    """Warn of commands that a page with the help of commands leaves out."""
    shown = app.env.temp_data.get("commands_shown")
    missing = set(parsers()) - shown if shown else set()
    if missing:
        logger.warning("no command-help for %s", ", ".join(missing), location=app.env.docname)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives."""
    app.add_directive("command-help", CommandHelp)
    app.add_directive("terminal", Terminal)
    app.connect("doctree-read", check_commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
