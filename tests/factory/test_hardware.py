import pytest

from tfdist.errors import UsageError
from tfdist.factory import hardware
from tfdist.factory.devices import parse
from tfdist.factory.hardware import survey


@pytest.fixture
def machine(monkeypatch):
    """A machine with so many GPUs of 8 GiB and 64 GiB of memory, as TensorFlow would list it."""

    def with_gpus(count):
        listed = {"CPU": ["cpu"], "GPU": [f"gpu {i}" for i in range(count)]}
        monkeypatch.setattr(hardware, "_physical", listed.__getitem__)
        monkeypatch.setattr(hardware, "_gpu_bytes", lambda: 8 * 2**30)
        monkeypatch.setattr(hardware.psutil, "virtual_memory", lambda: _Memory(64 * 2**30))

    return with_gpus


class _Memory:
    def __init__(self, total):
        self.total = total


@pytest.mark.parametrize(
    ("text", "gpus", "kind", "count", "gibibytes"),
    [
        (None, 0, "CPU", 1, 64),
        (None, 4, "GPU", 4, 8),
        ("cpu", 4, "CPU", 1, 64),
        ("cpu:2", 0, "CPU", 2, 32),
        ("gpu", 4, "GPU", 4, 8),
        ("gpu:2", 4, "GPU", 2, 8),
        ("gpu:0,2,3", 4, "GPU", 3, 8),
    ],
)
def test_survey(machine, text, gpus, kind, count, gibibytes):
    machine(gpus)
    devices = survey(parse(text))
    assert (devices.kind, devices.count) == (kind, count)
    assert devices.bytes_per_device == gibibytes * 2**30
    assert devices.host_bytes == 64 * 2**30


@pytest.mark.parametrize(
    ("text", "gpus", "message"),
    [
        ("gpu", 0, "GPUs were asked for, and TensorFlow sees none on this machine: use cpu, or"),
        ("gpu:4", 2, "4 GPUs were asked for, and this machine has 2, numbered from 0 to 1"),
        ("gpu:0,2", 2, "the GPUs numbered 0, 2 were asked for, and this machine has 2"),
    ],
)
def test_gpus_that_are_not_there(machine, text, gpus, message):
    machine(gpus)
    with pytest.raises(UsageError, match=message):
        survey(parse(text))


def test_which_gpus_are_taken(machine):
    machine(4)
    assert hardware._gpus(parse("gpu:3,1")) == ["gpu 3", "gpu 1"]
    assert hardware._gpus(parse("gpu:2")) == ["gpu 0", "gpu 1"]


@pytest.mark.parametrize(
    ("program", "size_bytes"),
    [
        ("echo 81559; echo 40960", 40960 * 2**20),
        ("echo '[N/A]'", None),
        ("exit 9", None),
    ],
)
def test_the_memory_of_the_smallest_gpu(monkeypatch, tmp_path, program, size_bytes):
    tool = tmp_path / "nvidia-smi"
    tool.write_text(f"#!/bin/sh\n{program}\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert hardware._gpu_bytes() == size_bytes


def test_no_tool_to_ask_for_the_memory(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert hardware._gpu_bytes() is None
