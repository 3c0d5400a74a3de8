"""The documentation builds without a warning, and every line of shell and Python in it holds."""

import ast
import importlib
import re
import shlex
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from tests import flags_page
from tests.processes import run_alone
from tfdist import __main__ as command
from tfdist.data.settings import Settings as DataSettings
from tfdist.diagnosis.settings import Settings as DoctorSettings
from tfdist.launch.settings import Settings as LaunchSettings
from tfdist.memory.settings import EstimateSettings
from tfdist.run.flags import parse
from tfdist.run.settings import Settings as TrainSettings
from tfdist.timing.settings import Settings as BenchSettings
from tfdist.verification.settings import VerifySettings

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])
KINDS = {
    "train": TrainSettings,
    "verify": VerifySettings,
    "estimate": EstimateSettings,
    "doctor": DoctorSettings,
}
OTHERS = {  # flags of every command, of those that have few, and of other programs
    *("help", "version", "flagfile", "name", "out", "scaling", "print"),
    *("nodes", "logdir", "nproc_per_node", "build", "images", "folder"),
}
GIVEN = """
import os, tempfile
os.chdir(tempfile.mkdtemp())
import keras, numpy as np
x = y = np.eye(10, dtype="float32")
def build_model():
    return keras.Sequential([keras.layers.Input((10,)), keras.layers.Dense(10)])
"""


def blocks(page, *languages):
    found = re.findall(r"^```(\w*)\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
    return [text for language, text in found if language in languages]


def shell_lines():
    for page in PAGES:
        for block in blocks(page, "", "sh"):
            for line in re.sub(r"\n +", " ", block).splitlines():
                if re.match(r"(\.venv/bin/|tfdist |make |pip |python |tensorboard |export )", line):
                    yield pytest.param(line, id=f"{page.stem}: {line[:60]}")


def check(words):
    """Parse the words of a tfdist command by the parser of its door."""
    door, *rest = words
    if rest == ["--help"]:
        return
    if door == "launch":
        end = rest.index("--")
        settings = parse(LaunchSettings, rest[:end])
        assert settings.sizes or settings.hosts or settings.hostfile
        inner = rest[end + 1 :]
        if inner[:2] == ["-m", "tfdist.train"]:
            check(["train", *inner[2:]])
    elif door in KINDS:
        parse(KINDS[door], rest)
    elif door == "data":
        parse(DataSettings, rest)
    else:
        assert door in command._DOORS or door == "--version"


@pytest.mark.parametrize("line", shell_lines())
def test_a_shell_line_is_understood(line):
    first, *words = shlex.split(line, comments=True)
    if Path(first).name == "tfdist":
        check(words)
    elif first == "make":
        assert f"\n{words[0]}:" in (ROOT / "Makefile").read_text()
    elif Path(first).name == "pip":
        extra = re.search(r"\[(\w+)\]|\.", words[-1])
        assert (
            extra.group(1) is None
            or f"\n{extra.group(1)} = [" in (ROOT / "pyproject.toml").read_text()
        )
    elif Path(first).name == "python":
        assert words[0] == "-m"
        assert importlib.util.find_spec(words[1])
    else:
        assert first in ("tensorboard", "export")


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "python")], ids=lambda p: p.stem)
def test_the_python_of_a_page_is_whole(page):
    for block in blocks(page, "python"):
        ast.parse(block)


def test_the_python_of_the_pages_runs():
    pages = ["faults", "watching", "coming-from"]  # in one process, which loads TensorFlow once
    code = "".join("".join(blocks(ROOT / "docs" / f"{name}.md", "python")) for name in pages)
    done = run_alone(GIVEN + code + "print('whole')")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "whole"), done
    done = run_alone(GIVEN + "".join(blocks(ROOT / "docs" / "notebooks.md", "python")))
    assert done.stdout.splitlines()[-1] == "42", done
    done = run_alone("".join(blocks(ROOT / "docs" / "strategies.md", "python")))
    assert done.stdout == "2\n", done


def test_the_own_model_of_the_quick_start_trains(tmp_path):
    _, module = blocks(ROOT / "docs" / "index.md", "python")
    (tmp_path / "mine.py").write_text(module)
    line = next(
        line
        for block in blocks(ROOT / "docs" / "index.md", "sh")
        for line in block.splitlines()
        if "tfdist train --dataset=mine:data" in line
    )
    done = run_alone(["-m", *line.split()], env={"PYTHONPATH": f"{tmp_path}:{ROOT}"})
    assert done.returncode == 0, done.stderr
    assert '"val_mae"' in done.stdout


def test_every_flag_is_in_the_documentation():
    assert flags_page.PAGE.read_text() == flags_page.page(), "run python -m tests.flags_page"


def test_every_flag_of_the_documentation_is_one():
    kinds = (*KINDS.values(), LaunchSettings, DataSettings, BenchSettings)
    known = {field.name for kind in kinds for field in fields(kind)} | OTHERS
    for page in [*PAGES, *(ROOT / "strategies").glob("**/*.md")]:
        for flag in re.findall(r"--(?:no(?=shuffle))?([a-z][a-z_]+)", page.read_text()):
            assert flag in known or page == flags_page.PAGE, f"{page}: --{flag}"


def test_the_architecture_page_names_what_is_there():
    text = (ROOT / "docs" / "architecture.md").read_text()
    named = set(re.findall(r"`([\w/]+(?:\.py|/))`", text)) - {"tfdist/", "tests/"}
    assert [each for each in named if not (ROOT / "tfdist" / each).exists()] == []
    folders = {f"{each.parent.name}/" for each in (ROOT / "tfdist").glob("*/__init__.py")}
    assert folders - named == set()


def test_every_message_of_troubleshooting_is_one_of_ours():
    source = "\n".join(file.read_text() for file in (ROOT / "tfdist").rglob("*.py"))
    source = re.sub(r'"\s*\n\s*f?"', "", source)
    headings = re.findall(r"^### `(.*)`$", (ROOT / "docs/troubleshooting.md").read_text(), re.M)
    assert len(headings) > 12
    for heading in headings:
        for piece in (piece.strip(" ,)") for piece in heading.split("...")):
            assert piece in source, f"{heading}: {piece}"


def test_the_pages_build_without_a_warning(tmp_path):
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(tmp_path)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert 'class="doc doc-object' in (tmp_path / "reference" / "index.html").read_text()
