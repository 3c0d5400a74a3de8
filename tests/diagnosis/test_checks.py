"""What each check says of what it sees, in this process."""

import os
import re
import socket
from importlib import metadata
from pathlib import Path

import pytest

import tfdist
from tests.processes import hold_ports
from tfdist.cluster import Cluster, Task
from tfdist.diagnosis import (
    addresses,
    agreement,
    devices,
    folder,
    memory,
    network,
    port,
    proxies,
    reached,
    versions,
)
from tfdist.diagnosis.finding import Finding
from tfdist.diagnosis.memory import Host
from tfdist.diagnosis.wires import Wire

PROJECT = (Path(tfdist.__file__).parent.parent / "pyproject.toml").read_text()


def cluster(*hosts):
    return Cluster({"worker": dict(enumerate(hosts))}, Task("worker", 0))


def one(findings):
    (found,) = findings
    return found


def test_the_supported_versions_are_those_of_the_project():
    for name, (first, end) in versions.SUPPORTED.items():
        wanted = f">={first}" + (f",<{end}" if end else "")
        line = f'requires-python = "{wanted}"' if name == "python" else f'"{name}{wanted}"'
        assert line in PROJECT


@pytest.mark.parametrize(
    ("installed", "status"),
    [("2.18.1", "fail"), ("2.19.0", "ok"), ("2.21.0rc1", "ok"), ("2.22.0", "fail"), (None, "fail")],
)
def test_versions(monkeypatch, installed, status):
    def version(name):
        if installed is None:
            raise metadata.PackageNotFoundError(name)
        return installed if name == "tensorflow" else "99.0"

    monkeypatch.setattr(metadata, "version", version)
    found = next(versions.check())
    assert found.status == status
    if status == "fail":
        assert re.match(r"tensorflow (2|is not installed)", found.said)
        assert found.remedy == "pip install 'tensorflow>=2.19,<2.22'"


def test_names():
    assert one(addresses.check(cluster("localhost:1", "127.0.0.2:2"))).status == "ok"
    unknown, _ = addresses.check(cluster("192.0.2.77:1", "no.such.host.invalid:1"))
    assert unknown.status == "fail"
    assert unknown.said.startswith("the host no.such.host.invalid of worker 1 is not known here")
    _, other = addresses.check(cluster("192.0.2.77:1", "192.0.2.78:1"))
    assert other.status == "warn"
    assert other.said.startswith("the address of worker 0, 192.0.2.77:1, is none of this host (")


def test_own_port():
    with socket.create_server(("", 0)) as holder:
        own = cluster(f"localhost:{holder.getsockname()[1]}", "localhost:1")
        found = one(port.check(own))
        assert found.status == "fail"
        assert f"process {os.getpid()} of " in found.said
        assert found.remedy == "end that process or give worker 0 another port"
    assert one(port.check(own)).status == "ok"


def test_proxies(monkeypatch):
    for name in ("grpc_proxy", "http_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert one(proxies.check(cluster("h1:1", "h2:1"))).status == "ok"
    monkeypatch.setenv("https_proxy", "http://p:1")
    found = one(proxies.check(cluster("h1:1", "h2:1")))
    assert (found.status, found.remedy) == (
        "fail",
        "export no_grpc_proxy=h2, or unset https_proxy",
    )


def test_reach_without_the_others():
    with hold_ports(1) as ports, socket.create_server(("127.0.0.1", 0)) as other:
        answers = f"127.0.0.1:{other.getsockname()[1]}"
        found = reached.check(cluster("127.0.0.1:1", f"127.0.0.1:{ports[0]}", answers))
        assert [each.status for each in found] == ["warn", "ok"]
    unknown = one(reached.check(cluster("192.0.2.77:1", "no.such.host.invalid:1")))
    assert unknown.status == "fail"
    assert unknown.said == "worker 1 at no.such.host.invalid:1: its name is unknown"


def test_memory(tmp_path):
    two = cluster("h1:1", "h1:2", "h2:1")
    assert one(memory.check(Host("h1", 2, 8 * 10**9, 2 * 10**9), two)).status == "ok"
    few = one(memory.check(Host("h1", 2, 8 * 10**9, 10**9), two))
    assert (few.status, few.said) == (
        "warn",
        "only 1.0 of 8.0 GB are free for 2 tasks and their models",
    )
    (tmp_path / "memory.stat").write_text("file 5\nanon 300\n")
    (tmp_path / "memory.max").write_text("max\n")
    assert memory._limit(tmp_path) is None
    (tmp_path / "memory.max").write_text("1000\n")
    assert memory._limit(tmp_path) == (1000, 300)


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("import os; os.kill(os.getpid(), 4)", "this processor lacks instructions that it needs"),
        ("raise ImportError('no libcudart')", "ImportError: no libcudart"),
    ],
)
def test_a_tensorflow_that_does_not_load(monkeypatch, program, said):
    monkeypatch.setattr(devices, "_QUESTION", program)
    found = devices.Question().answer()
    assert found.status == "fail"
    assert found.said == f"TensorFlow cannot be loaded: {said}"


def test_another_backend(monkeypatch):
    monkeypatch.setattr(devices, "_QUESTION", """print('{"backend": "jax", "devices": {}}')""")
    assert devices.Question().answer().remedy == "export KERAS_BACKEND=tensorflow"
    monkeypatch.setattr(devices, "_QUESTION", "import no_such_backend")
    monkeypatch.setenv("KERAS_BACKEND", "torch")
    assert devices.Question().answer().said.startswith("Keras runs on torch, and tf.distribute")


def test_slow_and_late_ways():
    two = cluster("h1:1", "h2:1")
    good = Wire("worker 0", "worker 1", "", 1e-4, -5.0, 2e8)  # the other one tells of its clock
    assert one(network.check([good], two)).status == "ok"
    bad = Wire("worker 0", "worker 1", "", 1e-4, 5.0, 2e7)
    clock, speed, _ = network.check([bad], two)
    assert (clock.status, clock.said) == ("warn", "that of worker 1 is 5.0 s ahead")
    assert (speed.status, speed.said) == ("warn", "100 MB of gradients take 5.0 s to worker 1")
    assert one(network.check([Wire("worker 0", "worker 1", "refused")], two)).status == "fail"
    here = Wire("worker 0", "worker 1", "", 1e-4, 0.0, 2e7)
    assert one(network.check([here], cluster("h1:1", "h1:2"))).status == "ok"


def told(task, **changes):
    alike = {"keras": "3.15", **changes}
    return task, {"alike": alike, "variables": {"XLA_FLAGS": "1"} if changes else {}}


def test_agreement():
    assert one(agreement.check([told("worker 0"), told("worker 1")])).status == "ok"
    keras, variable = agreement.check([told("worker 0"), told("worker 1", keras="3.16")])
    assert keras == Finding(
        "fail", "agreement", "keras is 3.15 on worker 0 and 3.16 on worker 1", keras.remedy
    )
    assert variable.status == "warn"
    assert variable.said == "XLA_FLAGS is absent on worker 0 and 1 on worker 1"


def test_a_folder_is_left_as_it_was(tmp_path):
    new = tmp_path / "new"
    assert one(folder.check(new, Cluster(), None)).status == "ok"
    assert not new.exists()
    assert one(folder.check(tmp_path, Cluster(), None)).status == "ok"
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    found = one(folder.check(tmp_path / "file", Cluster(), None))
    assert found.status == "fail"
    assert found.said == f"nothing can be written in {tmp_path}/file: File exists"
