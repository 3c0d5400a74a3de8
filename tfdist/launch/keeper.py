"""The process between the launcher and one task, on the task's host: no task outlives its launcher.

It runs without tfdist: over ssh only this text is there. Standard input tells it what to do: a line
of JSON that asks for a port, a line of JSON that is the order, then single bytes. It answers the
first line with one line on standard output, which from then on belongs to the task.
"""

import contextlib
import ctypes
import json
import os
import random
import resource
import select
import signal
import socket
import subprocess
import sys
import time

MARK = "tfdist keeper "
TERMINATE, KILL, BEAT = b"T", b"K", b"."
_CANNOT_START = 127  # as a shell ends
# Below those that systems give to outgoing connections, so that none of these takes one meanwhile.
_PORTS = range(20_000, 32_000)
_PR_SET_PDEATHSIG = 1  # prctl(2)


def main():
    """Offer a port, take an order, and keep its task; ends as the task does."""
    asked = json.loads(_line())
    holder = _hold(asked["port"], asked.get("again", False))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    offer = {"port": holder.getsockname()[1] if holder else None, "cores": cores}
    sys.stdout.write(MARK + json.dumps(offer) + "\n")
    sys.stdout.flush()
    order = json.loads(_line() or "null")
    return _end_like(_keep(order), order["is_remote"]) if order else 0


def _line():
    return open(0, "rb", 0, closefd=False).readline()  # not a byte more than the line


def _hold(port, again):
    """Bind a free port in such a way that only who wants exactly this one can listen there.

    Connections of the process that had it before, which linger for a minute, are no hindrance.
    """
    for candidate in [port] if port else random.SystemRandom().sample(_PORTS, len(_PORTS)):
        holder = socket.socket()
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, int(again))
        try:
            holder.bind(("", candidate))
        except OSError:
            holder.close()
            continue
        # Only now: another launcher was to fail above, and servers, which set it, are to succeed.
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        return holder
    return None


def _keep(order):
    wakeup, signals = _noticed_signals()
    try:
        child = subprocess.Popen(
            order["command"],
            env=_environment(order),
            cwd=order["folder"],
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # a group of its own, to be ended as a whole
            preexec_fn=die_with_parent,
        )
    except OSError as error:
        sys.stderr.write(f"{error.filename or order['command'][0]}: {error.strerror}\n")
        return _CANNOT_START
    _obey(child.pid, order, wakeup, signals)
    _signal(child.pid, signal.SIGKILL)  # what the task left behind, before its number is free
    return child.wait()


def _obey(group, order, wakeup, signals):
    """Do what the launcher says until the task has ended; without a launcher, end the task."""
    heard, kill_at, sources = time.monotonic(), None, [0, wakeup]
    while os.waitid(os.P_PID, group, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        ready = select.select(sources, [], [], 0.1 if kill_at else 1)[0]
        if wakeup in ready:
            os.read(wakeup, 512)
        words = os.read(0, 512) if 0 in ready else None
        now = time.monotonic()
        heard = now if words else heard
        if KILL in (words or b"") or (kill_at and now > kill_at):
            _signal(group, signal.SIGKILL)
        elif TERMINATE in (words or b""):
            _signal(group, signal.SIGTERM)
        silence = order["silence_seconds"]
        if not kill_at and (words == b"" or signals or (silence and now > heard + silence)):
            _signal(group, signal.SIGTERM)
            kill_at = now + order["grace_seconds"]
        if words == b"":
            sources = [wakeup]


def _noticed_signals():
    """A pipe that is readable after any of the signals, and the list of those that ask to end."""
    asked = []
    reader, writer = os.pipe()
    for pipe in (reader, writer):
        os.set_blocking(pipe, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, lambda number, _: asked.append(number))
    return reader, asked


def _environment(order):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(tuple(order["without"]))}
    return {**kept, **order["variables"]}


def _signal(group, number):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, number)


def die_with_parent(number=signal.SIGKILL):
    """Have this signal sent to this process when its parent ends. Linux has it, others do not."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number)


def _end_like(code, is_remote):
    if code >= 0:
        return code
    if not is_remote:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the task has left one already
        with contextlib.suppress(OSError):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return 128 - code  # ssh knows no signals


if __name__ == "__main__":
    sys.exit(main())
