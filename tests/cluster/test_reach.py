"""Why an address cannot be reached, in words."""

import errno
import os
import socket
import threading
import time

import pytest

from tests.processes import hold_ports
from tfdist.cluster.reach import reach, why

WORDS = [
    (ConnectionRefusedError(errno.ECONNREFUSED, "x"), "refused, not started"),
    (OSError(errno.EHOSTUNREACH, "x"), "no route to its host"),
    (OSError(errno.ENETUNREACH, "x"), "no route to its host"),
    (TimeoutError(errno.ETIMEDOUT, "x"), "no answer from its host"),
    (TimeoutError("timed out"), "no answer from its host"),
    (socket.gaierror(-2, "Name or service not known"), "its name is unknown"),
    (OSError(errno.EACCES, os.strerror(errno.EACCES)), "Permission denied"),
    (
        ConnectionAbortedError("what answers there is not tfdist"),
        "what answers there is not tfdist",
    ),
]


@pytest.mark.parametrize(("error", "words"), WORDS)
def test_why(error, words):
    assert why(error) == words


def test_all_at_once_and_in_order():
    with hold_ports(2) as (open_port, shut_port), socket.create_server(("127.0.0.1", open_port)):
        addresses = [f"127.0.0.1:{shut_port}", f"localhost:{open_port}", "no-such.invalid:1"]
        refused, connected, unknown = reach(addresses, 10)
        with connected:
            assert connected.getpeername()[1] == open_port
    assert refused == "refused, not started"
    assert unknown == "its name is unknown"


def test_a_slow_name_does_not_hold_up_the_answer(monkeypatch):
    answered = threading.Event()

    def slow(*_, **__):
        answered.wait(5)
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    before = time.monotonic()
    assert reach(["slow.example:1"], 0.2) == ["no answer from its host"]
    assert time.monotonic() - before < 2
    answered.set()


def test_a_connection_to_oneself_is_none(monkeypatch):
    # Linux connects a socket to itself when it happens to lend it the port that it dials.
    def to_itself(address, _):
        own = socket.socket()
        own.bind(address)
        own.connect(address)
        return own

    monkeypatch.setattr(socket, "create_connection", to_itself)
    with hold_ports(1) as (port,):
        assert reach([f"127.0.0.1:{port}"], 5) == ["refused, not started"]
