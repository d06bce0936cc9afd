"""Reports in Chromium, headless: what it complains of, and what axe finds."""

import html
import json
import re
import shutil
import subprocess

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
_RUN_AXE = """axe.run().then(found => {
  document.title = JSON.stringify({
    violations: found.violations.map(one => [one.id, one.nodes.map(node => node.html)]),
    passes: found.passes.length,
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    width: window.innerWidth,
    dark: matchMedia("(prefers-color-scheme: dark)").matches,
  });
});"""


def chromium(path, *options):
    """Return the document as it stands in the end, and what the console says."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    command = [
        CHROMIUM,
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--enable-logging=stderr",
        f"--user-data-dir={path.parent / 'chromium'}",
        "--virtual-time-budget=20000",
        *options,
        "--dump-dom",
        path.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def audit(page, folder, *options):
    """Return what axe finds in a page, with everything open that can be."""
    axe_core_python = pytest.importorskip("axe_core_python")
    with open(axe_core_python.__path__[0] + "/axe.min.js", encoding="utf-8") as file:
        axe = file.read()
    page = re.sub('<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    page = page.replace("<details>", "<details open>")
    scripts = f"<script>{axe}</script><script>{_RUN_AXE}</script>"
    path = folder / "audited.html"
    path.write_text(page.replace("</body>", scripts + "</body>"), "utf-8")
    found, _ = chromium(path, *options)
    return json.loads(html.unescape(re.search("<title>(.*?)</title>", found, re.DOTALL)[1]))
