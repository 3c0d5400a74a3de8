"""The scripts of the multi-process tests."""

# An error ends a script as it ends a command: one sentence, and the exit code of its kind.
_HEAD = """
import json, os, signal, socket, sys, time
from tfdist.cluster import Task, meet, resolve
from tfdist.cluster.hello import hello
from tfdist.cluster.messages import Connection
from tfdist.errors import StartAgainError, UsageError

def end(kind, error, trace):
    sys.stderr.write(f"{kind.__name__}: {error}\\n")
    sys.stderr.flush()
    os._exit({UsageError: 2, StartAgainError: 75}.get(kind, 1))

def dial(task):
    # As a task does, but without a port of its own.
    host, port = cluster.address(task).split(":")
    while True:
        try:
            return Connection(socket.create_connection((host, int(port))))
        except ConnectionRefusedError:
            time.sleep(0.02)

sys.excepthook = end
cluster = resolve()
me = str(cluster.task)
"""


def python(lines):
    """The interpreter's arguments that run `lines` after the common beginning."""
    return ["-c", _HEAD + lines]
