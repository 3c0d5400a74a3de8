"""In which order are the examples read? The same in every task, and in every run with this seed."""

import tensorflow as tf

from tfdist.data import Source, order


def batches(
    source: Source,
    global_batch_size: int,
    seed: int,
    *,
    goes_on: bool = False,
    start: tuple[int, int] = (0, 0),
) -> tuple[tf.data.Dataset, tf.data.Dataset | None]:
    """Return the global batches for training, shuffled anew in each epoch, and for validation.

    Args:
        source: Single examples.
        global_batch_size: Examples in a batch; the last one of a pass has what is left.
        seed: Of the order.
        goes_on: Begin the data again, without end, for epochs that have a given number of steps.
        start: The pass over the data, and the batch in it, to begin with.
    """
    train = order.Order(
        global_batch_size=global_batch_size,
        seed=seed,
        goes_on=goes_on,
        start_epoch=start[0],
        start_step=start[1],
    )
    validation = order.validation_batches(source, global_batch_size)
    return order.batches(source, train), validation
