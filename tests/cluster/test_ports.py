"""Who holds a port."""

import os
import socket
import subprocess
import sys

import pytest

from tests.processes import hold_ports
from tfdist.cluster.ports import hold_port, port_holder
from tfdist.cluster.task import Task
from tfdist.errors import StartAgainError, UsageError

LISTEN = (
    "import socket; s = socket.create_server(('127.0.0.1', {})); print('on', flush=True); input()"
)


def test_the_holder_is_named_by_its_command():
    with hold_ports(1) as (port,):
        assert port_holder(port) is None
        command = [sys.executable, "-c", LISTEN.format(port)]
        with subprocess.Popen(command, stdin=-1, stdout=-1, text=True) as other:
            assert other.stdout.readline() == "on\n"
            holder = port_holder(port)
            with pytest.raises(StartAgainError, match=f"ps 3 cannot use its port {port}: process"):
                hold_port(Task("ps", 3), f"h:{port}")
            other.communicate("\n", timeout=10)
    assert f"process {other.pid} of " in holder
    assert "python" in holder
    assert "import socket" in holder


def test_a_held_port_is_busy_for_others_and_free_afterwards():
    with hold_ports(1) as (port,):
        held = hold_port(Task("worker", 0), f"h:{port}")
        with pytest.raises(StartAgainError, match=f"process {os.getpid()} of "):
            hold_port(Task("worker", 1), f"h:{port}")
        held.close()
        hold_port(Task("worker", 1), f"h:{port}").close()


def test_a_port_that_a_launcher_keeps_without_listening_is_free_for_its_task():
    with hold_ports(1) as (port,), socket.socket() as kept:
        kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        kept.bind(("127.0.0.1", port))
        hold_port(Task("worker", 0), f"h:{port}").close()


def test_a_port_that_is_not_allowed(monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(socket, "create_server", refuse)
    with pytest.raises(UsageError, match="worker 0 may not use its port 80: permission denied"):
        hold_port(Task("worker", 0), "h:80")
