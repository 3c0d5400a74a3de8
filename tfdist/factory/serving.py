"""The life of a task that only serves: a worker under parameter servers, or a ps."""

from __future__ import annotations

import logging
import os
import sys
import time
from typing import NoReturn

from tfdist.cluster import Channel, Cluster
from tfdist.cluster.pulse import PULSE
from tfdist.cluster.reach import reach
from tfdist.errors import EXIT_AGAIN, EXIT_DONE
from tfdist.factory.devices import Devices, Request
from tfdist.factory.failures import connecting
from tfdist.factory.parameter_server import start_server

_GOING_SECONDS = 10.0
_CONNECT_SECONDS = 1.0
_LOOK_AGAIN_SECONDS = 0.1


def serve(cluster: Cluster, devices: Devices, request: Request, channel: Channel) -> NoReturn:
    """Serve until the coordinator has finished, then end this process with its exit code.

    The code is 75 when the coordinator ended without a word.
    """
    PULSE.leave("serves", patience=1)
    with connecting(cluster, channel, None):
        _server = start_server(cluster, devices, request)  # serves as long as it is referred to
    if not channel.is_late:
        channel.gather("serving", True)
    _say(f"{cluster.task} serves at {cluster.address(cluster.task)} until the chief has finished")
    code = channel.wait_finish()
    if code != EXIT_AGAIN:
        _await_the_end_of(cluster)
    _say(f"{cluster.task} ends with code {code}: {_why(code)}")
    channel.close()
    _end_process(code)


def _await_the_end_of(cluster: Cluster) -> None:
    """Wait until the chief is gone: as it ends it still sends what it must not fail to deliver."""
    deadline = time.monotonic() + _GOING_SECONDS
    while time.monotonic() < deadline:
        (found,) = reach([cluster.address(cluster.chief)], _CONNECT_SECONDS)
        if isinstance(found, str):
            return
        found.close()
        time.sleep(_LOOK_AGAIN_SECONDS)


def _why(code: int) -> str:
    reasons = {EXIT_DONE: "the chief has finished", EXIT_AGAIN: "the chief is gone"}
    return reasons.get(code, "the chief has failed")


def _end_process(code: int) -> NoReturn:
    """End without the interpreter's clean-up: threads of TensorFlow's server, which has no clean
    shutdown, may be computing until the last moment.
    """
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _say(sentence: str) -> None:
    sys.stderr.write(f"tfdist: {sentence}\n")
    sys.stderr.flush()
