import subprocess
import sys
import time
from pathlib import Path

import pytest

from tfdist.data import load
from tfdist.data.lock import held
from tfdist.errors import UsageError

LOAD_DIGITS = """
import sys
from tfdist.data import load
source = load("digits", sys.argv[1])
print(source.train_examples, len(list(source.validation)))
"""


def wait_for(text: str, file: Path, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while text not in file.read_text():
        assert time.monotonic() < deadline, f"no {text!r} in {file.read_text()}"
        time.sleep(0.05)


@pytest.fixture
def two_loaders(tmp_path):
    """Two processes that load the digits from tmp_path/data, with errors in tmp_path/0 and /1."""
    processes = []
    for index in range(2):
        with (tmp_path / str(index)).open("w") as errors:
            command = [sys.executable, "-c", LOAD_DIGITS, str(tmp_path / "data")]
            options = {"stdout": subprocess.PIPE, "stderr": errors, "text": True}
            processes.append(subprocess.Popen(command, **options))
    yield processes
    for process in processes:
        process.kill()
        process.communicate()


def test_two_processes_prepare_at_the_same_time(tmp_path, two_loaders):
    data = tmp_path / "data"
    data.mkdir(exist_ok=True)
    with held(data / ".digits.lock", "prepare digits", 10.0):
        for index in range(2):
            wait_for(f"to prepare digits in {data}", tmp_path / str(index), 60.0)
    answers = [process.communicate(timeout=90)[0] for process in two_loaders]
    assert answers == ["1437 360\n"] * 2
    assert [path.name for path in (data / "digits").iterdir()] == ["1.0.0"]


def test_prepared_data_needs_no_lock(digits_dir):
    with held(Path(digits_dir) / ".digits.lock", "prepare digits", 10.0):
        assert load("digits", digits_dir).train_examples == 1437


@pytest.mark.parametrize("folder", ["/sys/tfdist", __file__])
def test_folder_that_cannot_be_written(folder):
    message = f"'digits' is not in {folder}, which cannot be written .*--data_dir=FOLDER"
    with pytest.raises(UsageError, match=message):
        load("digits", folder)


def test_remote_folder_without_the_dataset(monkeypatch):
    from tfdist.data import catalogue, prepare

    builder = catalogue.find("digits", "/nowhere")
    monkeypatch.setattr(builder, "_data_dir_root", "gs://bucket/data")
    with pytest.raises(UsageError, match="gs://bucket/data does not hold 'digits'"):
        prepare.ensure(builder, "digits")


def test_folder_without_its_note_is_not_taken_for_a_dataset(tmp_path):
    (tmp_path / "digits" / "1.0.0").mkdir(parents=True)
    with pytest.raises(UsageError, match=r"lacks dataset_info\.json: remove the folder"):
        load("digits", str(tmp_path))


def test_home_folder_is_understood(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "data" / "digits" / "1.0.0").mkdir(parents=True)
    with pytest.raises(UsageError, match=f"{tmp_path}/data/digits/1.0.0 holds no complete"):
        load("digits", "~/data")
