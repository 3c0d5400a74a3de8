"""In which order are the examples read? The same in every task, and in every run with this seed."""

import tensorflow as tf

from tfdist.data import Source

_SHUFFLED_AT_ONCE = 10_000  # examples in memory; a smaller training set is shuffled as a whole


def batches(
    source: Source, global_batch_size: int, seed: int, *, goes_on: bool = False
) -> tuple[tf.data.Dataset, tf.data.Dataset | None]:
    """Return the global batches for training, shuffled anew in each epoch, and for validation.

    Args:
        source: Single examples.
        global_batch_size: Examples in a batch; the last one of a pass has what is left.
        seed: Of the order.
        goes_on: Begin the data again, without end, for epochs that have a given number of steps.
    """
    examples = source.train_examples
    buffer = _SHUFFLED_AT_ONCE if examples is None else min(examples, _SHUFFLED_AT_ONCE)
    train = source.train.shuffle(buffer, seed, reshuffle_each_iteration=True)
    train = train.batch(global_batch_size)
    train = _ready_in_order(train.repeat() if goes_on else train)
    if source.validation is None:
        return train, None
    return train, _ready_in_order(source.validation.batch(global_batch_size))


def _ready_in_order(dataset: tf.data.Dataset) -> tf.data.Dataset:
    options = tf.data.Options()
    options.deterministic = True
    return dataset.with_options(options).prefetch(tf.data.AUTOTUNE)
