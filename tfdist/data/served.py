"""How do machines that train get batches that other machines have prepared?

Each piece of the epoch, the rows of one worker in a step, is made by one machine of the data
service and goes to the worker that asks first. So each example is trained on once, but which worker
has it, and with which others, is not the same in another run.
"""

from __future__ import annotations

import socket
from typing import Any

import numpy as np

from tfdist.cluster.addresses import split_address
from tfdist.data.augment import Augment
from tfdist.data.order import Order
from tfdist.data.per_worker import PerWorker, WorkerContext
from tfdist.data.permutation import permutation
from tfdist.data.reader import Reader, as_written
from tfdist.data.source import Source
from tfdist.errors import StartAgainError, UsageError

_WAIT_SECONDS = 10.0


def served(
    source: Source, order: Order, augment: Augment | None, address: str, run: str
) -> PerWorker:
    """Return the training data, prepared by the data service.

    Args:
        source: what is read, from files that its machines see under the same names.
        order: in which order the service begins with the examples.
        augment: how images are changed.
        address: "host:port" of the service.
        run: a name that all tasks of this run have, and no other run.

    Raises:
        UsageError: the data cannot be read by other processes.
        StartAgainError: nobody answers at the address.
    """
    reader = source.train_reader
    reader = reader.original or reader if reader is not None else None
    if reader is None or not reader.in_graph or reader.may_lose:
        raise UsageError(
            f"--data_service was given with {source.name!r}"
            f"{' and --max_bad_examples' if reader and reader.may_lose else ''}: other machines "
            "prepare the images of folder:PATH, all of which can be read, so leave one out"
        )
    _refuse_silence(address)
    return PerWorker(lambda context: _of_epoch(reader, order, augment, address, run, context))


def _of_epoch(
    reader: Reader,
    order: Order,
    augment: Augment | None,
    address: str,
    run: str,
    context: WorkerContext,
) -> Any:
    import tensorflow as tf

    service = tf.data.experimental.service
    dataset = _pieces(reader, order, augment, context)
    key = f"tfdist-{run}-{context.epoch}"
    return service.from_dataset_id(
        service.ShardingPolicy.DYNAMIC,
        f"grpc://{address}",
        service.register_dataset(f"grpc://{address}", dataset, dataset_id=key),
        dataset.element_spec,
        job_name=key,
    )


def _pieces(reader: Reader, order: Order, augment: Augment | None, context: WorkerContext) -> Any:
    import tensorflow as tf

    whole, workers, epoch = order.global_batch_size, context.workers, context.epoch
    if whole % workers:
        raise UsageError(
            f"--data_service makes pieces of one size, but {workers} workers share a global batch "
            f"of {whole}: give one that {workers} divides"
        )
    rows, steps = whole // workers, order.steps(reader.examples)
    count = min(reader.examples, steps * whole)
    numbers = np.arange(reader.examples)
    if order.shuffle:
        numbers = permutation(reader.examples, order.seed, epoch)
    table = tf.constant(numbers[:count], tf.int64)

    def piece(place: Any) -> Any:
        batch = reader.batch(table[place * rows : (place + 1) * rows])
        return augment(batch, (tf.constant(epoch, tf.int64), place)) if augment else batch

    first = order.start_step * workers if epoch == order.start_epoch else 0
    places = tf.data.Dataset.range(first, -(-count // rows))
    return places.map(as_written(piece), num_parallel_calls=tf.data.AUTOTUNE)


def _refuse_silence(address: str) -> None:
    try:
        host, port = split_address(address)
    except ValueError as error:
        raise UsageError(f"--data_service is {address!r}, which {error}") from None
    try:
        socket.create_connection((host, port), _WAIT_SECONDS).close()
    except OSError as error:
        raise StartAgainError(
            f"no data service answers at {address} ({error}): start it by python -m tfdist.launch "
            "--workers=N -- -m tfdist.data.service, and give the address that it prints"
        ) from error
