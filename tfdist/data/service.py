"""Machines that prepare data for those that train: `python -m tfdist.data.service`.

TensorFlow's data service, started in every task of a cluster of its own, as by

    python -m tfdist.launch --workers=3 -- -m tfdist.data.service

Every task prepares batches; the first one also deals them out, at its address in the cluster.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Sequence
from typing import Any

from tfdist.cluster import Cluster, resolve
from tfdist.cluster.addresses import split_address
from tfdist.errors import EXIT_DONE, UsageError
from tfdist.run.door import answer
from tfdist.run.flags import asks_for_help
from tfdist.run.loading import load_tensorflow

_WAIT_MILLISECONDS = 120_000  # of a task for the first one
# A server that has worked ends no sooner than at its next heartbeat.
_BEAT_MILLISECONDS = 1000
_USAGE = "usage: python -m tfdist.launch --workers=N -- -m tfdist.data.service"


def main(words: Sequence[str] | None = None) -> int:
    """Serve until this process is asked to end."""
    words = sys.argv[1:] if words is None else words
    return answer(lambda: _run(words))


def _run(words: Sequence[str]) -> int:
    if asks_for_help(words):
        sys.stdout.write(f"{_USAGE}\n\n{__doc__}")
        return EXIT_DONE
    if words:
        raise UsageError(f"{words[0]!r} was not understood: tfdist.data.service takes no flags")
    cluster = resolve()
    if cluster.is_local:
        raise UsageError(f"the data service runs in the tasks of a cluster: {_USAGE}")
    asked_to_end = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: asked_to_end.set())
    load_tensorflow()
    servers = serve(cluster)
    sys.stdout.write(f"data service: train with --data_service={cluster.address(cluster.chief)}\n")
    sys.stdout.flush()
    while not asked_to_end.wait(1):
        pass
    del servers
    return EXIT_DONE


def serve(cluster: Cluster) -> list[Any]:
    """Start the servers of this task, which stop when nobody has them any more."""
    import tensorflow as tf

    service = tf.data.experimental.service
    dispatcher_address = cluster.address(cluster.chief)
    servers = []
    if cluster.is_chief:
        _, port = split_address(dispatcher_address)
        config = service.DispatcherConfig(port=port, fault_tolerant_mode=False)
        servers.append(service.DispatchServer(config))
    host, port = split_address(cluster.address(cluster.task))
    if cluster.is_chief:
        port = 0
    config = service.WorkerConfig(
        dispatcher_address=dispatcher_address,
        worker_address=f"{host}:%port%",
        port=port,
        heartbeat_interval_ms=_BEAT_MILLISECONDS,
        dispatcher_timeout_ms=_WAIT_MILLISECONDS,
    )
    servers.append(service.WorkerServer(config))
    return servers


if __name__ == "__main__":
    sys.exit(main())
