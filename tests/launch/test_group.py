"""Ports: certain ones when asked for, and another try when another program took one."""

import contextlib
import socket
import sys

import pytest

from tests.processes import hold_ports
from tfdist.cluster import Task
from tfdist.errors import StartAgainError, UsageError
from tfdist.launch import run_local
from tfdist.launch.ended import Ended
from tfdist.launch.group import Group, run
from tfdist.launch.hosts import THIS_MACHINE
from tfdist.launch.signals import Signals

ALONE = {Task("worker", 0): THIS_MACHINE}
SAYS_PORT = """
import json, os, socket, sys
address = json.loads(os.environ["TF_CONFIG"])["cluster"]["worker"][0]
print(address, flush=True)
"""
# Ends in failure once another program listens at its address, and well when none does.
WAITS_FOR_OTHER = (
    SAYS_PORT
    + """
if sys.argv[1:]:
    while True:
        try: socket.create_connection(address.split(":"), timeout=1)
        except OSError: continue
        sys.exit(1)
"""
)


def run_group(code, *words, heard, **options):
    said = []
    group = Group([sys.executable, "-c", code, *words], ALONE, **options)
    with Signals() as signals:
        ended = run(group, lambda task, stream, line: heard(line), signals, said.append)
    return ended, said


def test_the_ports_that_were_asked_for():
    with hold_ports(1) as (port,):
        heard = []
        ended, _ = run_group(SAYS_PORT, heard=heard.append, base_port=port)
    assert ended == [Ended(Task("worker", 0), 0)]
    assert heard == [f"127.0.0.1:{port}"]


def test_a_taken_port_is_said():
    with socket.create_server(("", 0)) as other:
        port = other.getsockname()[1]
        said = f"worker 0 cannot have its port {port} on this machine: it is taken; end what"
        with pytest.raises(StartAgainError, match=said):
            run_group(SAYS_PORT, heard=print, base_port=port)


def test_a_race_for_a_port_is_run_again_and_has_an_end():
    addresses = []
    with contextlib.ExitStack() as others:

        def take(address):
            addresses.append(address)
            port = int(address.split(":")[1])
            others.enter_context(socket.create_server(("127.0.0.1", port)))

        ended, said = run_group(WAITS_FOR_OTHER, "taken", heard=take)
    assert ended == [Ended(Task("worker", 0), 1)]
    assert len(set(addresses)) == 3
    assert said == [
        f"another program has taken {address} of worker 0: starting again"
        for address in addresses[:2]
    ]


def test_an_impossible_cluster_is_refused():
    with pytest.raises(UsageError, match="ps but no worker"):
        run_local(["true"], {"ps": 1})
