"""The package as a whole: its names, its command, its texts."""

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import tfdist
from tests.processes import _environment, run_alone
from tfdist import __main__ as command

ROOT = Path(tfdist.__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
BEFORE_README = """
import keras
import numpy as np
x = y = np.eye(10, dtype="float32")
def build_model():
    return keras.Sequential([keras.layers.Input((10,)), keras.layers.Dense(10)])
"""
AFTER_README = """
losses = model.history.history["loss"]
print(int(model.optimizer.iterations.numpy()), losses[-1] < losses[0])
"""


def test_public_names_load_when_used():
    assert tfdist.__all__ == ["__version__", *sorted(tfdist._HOME)]
    assert all(name in dir(tfdist) for name in tfdist.__all__)
    assert callable(tfdist.strategy)
    assert callable(tfdist.distribute)
    with pytest.raises(AttributeError, match="module 'tfdist' has no attribute 'stratgy'"):
        _ = tfdist.stratgy


@pytest.mark.parametrize(
    "module",
    [
        "tfdist",
        "tfdist.__main__",
        "tfdist.train",
        "tfdist.demo",
        "tfdist.launch",
        "tfdist.doctor",
        "tfdist.estimate",
    ],
)
def test_imports_no_tensorflow(module):
    done = run_alone(f"import sys, {module}; print('tensorflow' in sys.modules)")
    assert done.stdout == "False\n"


def test_the_command_is_declared():
    assert 'tfdist = "tfdist.__main__:main"' in (ROOT / "pyproject.toml").read_text()


def test_the_command_shows_its_doors(capsys):
    assert command.main([]) == command.main(["--help"]) == 0
    shown = re.findall(r"^  (\w+)  ", capsys.readouterr().out, re.MULTILINE)
    assert shown == 2 * list(command._DOORS)


def test_the_command_gives_the_rest_to_its_door(capsys):
    assert command.main(["train", "--epochs=0", "--explain"]) == 2
    assert capsys.readouterr().err.startswith("--epochs is 0, but must be 1 or more")
    assert command.main(["cluster", "--print"]) == 0


def test_a_wrong_command_is_one_sentence(capsys):
    assert command.main(["trian"]) == 2
    assert command.main(["fly"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "tfdist has no command 'trian'; did you mean 'train'?",
        f"tfdist has no command 'fly': give one of {', '.join(command._DOORS)}",
    ]


def test_the_command_says_its_version():
    done = run_alone(["-m", "tfdist", "--version"])
    assert (done.returncode, done.stdout) == (0, f"tfdist {tfdist.__version__}\n")


def test_the_licence_is_whole():
    licence = (ROOT / "LICENSE").read_text()
    assert "Apache License" in licence
    assert "END OF TERMS AND CONDITIONS" in licence


def test_the_example_of_the_readme_trains():
    example = re.findall(r"```python\n(.*?)```", README, re.DOTALL)[0]
    done = run_alone(BEFORE_README + example + AFTER_README)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "8 True"), done


@pytest.mark.parametrize(
    ("target", "commands"),
    [
        ("demo", ["bin/python -m tfdist.demo"]),
        ("test", ["bin/ruff check .", "bin/ruff format --check .", "bin/mypy", "bin/pytest"]),
        ("setup", []),
    ],
)
def test_the_makefile_sets_up_what_a_target_needs(tmp_path, target, commands):
    (tmp_path / "pyproject.toml").touch()
    words = ["make", "-f", str(ROOT / "Makefile"), "--dry-run", target]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    expected = ["-m venv .venv", "install --quiet --editable", *commands]
    places = [done.stdout.find(each) for each in expected]
    assert -1 not in places
    assert places == sorted(places)


def test_the_makefile_refuses_another_python(tmp_path):
    (tmp_path / "pyproject.toml").touch()
    old = tmp_path / "python2"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    words = ["make", "-f", str(ROOT / "Makefile"), "setup", f"PYTHON={old}"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=30)
    assert done.returncode == 2
    assert f"tfdist needs Python 3.10 to 3.13, and {old} is not" in done.stderr
    assert not (tmp_path / ".venv").exists()


def test_the_interpreter_is_supported():
    assert (3, 10) <= sys.version_info[:2] <= (3, 13)


def test_the_wheel_has_every_file_of_the_package_and_runs(tmp_path):
    source = tmp_path / "source"  # a build leaves files beside what it builds
    shutil.copytree(ROOT / "tfdist", source / "tfdist", ignore=shutil.ignore_patterns("*.pyc"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "MANIFEST.in"):
        shutil.copy(ROOT / name, source / name)
    words = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", str(tmp_path)]
    done = subprocess.run([*words, str(source)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    files = {str(p.relative_to(source)) for p in (source / "tfdist").rglob("*") if p.is_file()}
    assert files <= set(zipfile.ZipFile(wheel).namelist())
    assert "tfdist/py.typed" in files
    run = [sys.executable, "-m", "tfdist", "train", "--epochs=0"]
    env = {**_environment(), "PYTHONPATH": str(wheel)}
    done = subprocess.run(run, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr[:12]) == (2, "--epochs is "), done
