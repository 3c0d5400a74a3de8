import os
import socket
import subprocess
import sys
import time

import pytest

from tfdist.data import catalogue, fetch, load
from tfdist.errors import UsageError

FETCH_MNIST = """
import sys
from tfdist.data import catalogue, fetch
fetch.run(catalogue.find("mnist", sys.argv[1]), "mnist", 60.0)
"""


@pytest.fixture
def proxy(monkeypatch):
    """A bound socket that downloads are sent to; it refuses them until it listens."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(60)
        for scheme in ("http", "https"):
            monkeypatch.setenv(f"{scheme}_proxy", "http://{}:{}".format(*server.getsockname()))
        yield server


def unfinished(folder):
    return [path for path in folder.rglob("*") if ".tmp." in path.name or "incomplete" in path.name]


@pytest.mark.parametrize("name", ["mnist", "wine_quality"])
def test_what_cannot_be_fetched_is_told_within_20_s(tmp_path, proxy, name):
    start = time.monotonic()
    with pytest.raises(
        UsageError, match=rf"'{name}' is not in {tmp_path} and could not be fetched"
    ):
        load(name, str(tmp_path))
    assert time.monotonic() - start < 20
    assert unfinished(tmp_path) == []


def test_silent_server(tmp_path, proxy):
    proxy.listen(16)
    builder = catalogue.find("mnist", str(tmp_path))
    with pytest.raises(UsageError, match=r"no data came for 1 s\): check the network"):
        fetch.run(builder, "mnist", silence_seconds=1.0)
    assert unfinished(tmp_path) == []


def test_download_ends_with_the_process_that_asked_for_it(tmp_path, proxy):
    proxy.listen(16)
    parent = subprocess.Popen([sys.executable, "-c", FETCH_MNIST, str(tmp_path)], env=os.environ)
    try:
        connection, _ = proxy.accept()
    finally:
        parent.kill()
        parent.wait()
    with connection:
        connection.settimeout(30)
        while connection.recv(4096):  # Nothing more comes once the other end is gone.
            pass


def test_dataset_to_be_fetched_by_hand(tmp_path):
    with pytest.raises(UsageError, match=r"'resisc45' is not in .* \(AssertionError: Manual dir"):
        load("resisc45", str(tmp_path))
