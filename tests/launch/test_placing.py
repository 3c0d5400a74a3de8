"""Host lists, and which task runs where."""

import re

import pytest

from tfdist.errors import UsageError
from tfdist.launch.placing import parse_hosts, place, read_hostfile
from tfdist.launch.tasks import tasks_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("h1", {"h1": 1}),
        ("h1,h2:4", {"h1": 1, "h2": 4}),
        ("me@h1.example.org:2, 10.0.0.1", {"me@h1.example.org": 2, "10.0.0.1": 1}),
        ("[fe80::1]:3,[::1]", {"fe80::1": 3, "::1": 1}),
    ],
)
def test_hosts(text, expected):
    assert parse_hosts(text) == expected


@pytest.mark.parametrize("text", ["", "h1,,h2", "h1:", "h1:x", "h1:0", "-oProxyCommand=x", "h 1"])
def test_wrong_hosts(text):
    with pytest.raises(UsageError, match=r"--hosts has '.*' where a host is expected, alone or"):
        parse_hosts(text)


def test_a_host_twice():
    with pytest.raises(UsageError, match="--hosts has the host 'h1' twice: write h1:2 for two"):
        parse_hosts("h1,h1")


def test_hostfile(tmp_path):
    file = tmp_path / "hosts"
    file.write_text("# ours\nh1\n\nh2 slots=4 max_slots=8\nh3:2  # the new one\n")
    assert read_hostfile(file) == {"h1": 1, "h2": 4, "h3": 2}


@pytest.mark.parametrize(
    ("text", "said"),
    [("h1 h2\n", "has 'h1 h2' where a host is expected"), ("# none\n", "names no host: write one")],
)
def test_wrong_hostfiles(tmp_path, text, said):
    file = tmp_path / "hosts"
    file.write_text(text)
    with pytest.raises(UsageError, match=re.escape(f"--hostfile={file} {said}")):
        read_hostfile(file)


def test_a_missing_hostfile(tmp_path):
    with pytest.raises(UsageError, match=r"--hostfile cannot be read .*No such file"):
        read_hostfile(tmp_path / "none")


def test_the_first_tasks_fill_the_first_host():
    placed = place(tasks_of({"chief": 1, "worker": 3}), {"h1": 2, "h2": 4})
    assert list(placed.values()) == ["h1", "h1", "h2", "h2"]


def test_too_many_tasks():
    with pytest.raises(UsageError, match="4 tasks do not fit on h1:1,h2:2: give hosts for more"):
        place(tasks_of({"worker": 4}), {"h1": 1, "h2": 2})
