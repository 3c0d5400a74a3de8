"""Of which stages is a pipeline made, and what would plain tf.data make of them?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from tfdist.data.augment import Augment
from tfdist.data.batches import batches
from tfdist.data.order import Order
from tfdist.data.source import Source

_BUFFER_EXAMPLES = 10_000
CACHE = "keep in a cache"
PLAIN = "plain tf.data"


def stages(source: Source, order: Order, augment: Augment | None) -> Iterator[tuple[str, Any]]:
    """Yield the endless dataset of global batches at each stage with all those before it, by name.

    The last one, PLAIN, is what tf.data makes of the same stages without tfdist.
    """
    order = replace(order, goes_on=True)
    in_order = replace(order, shuffle=False)
    reader = source.train_reader
    if reader is None:
        yield "read", batches(source, in_order)
    else:
        original = reader.original or reader
        unfinished = replace(original, finish=lambda batch: batch)
        yield "read and decode", batches(replace(source, train_reader=unfinished), in_order)
        yield "to numbers", batches(replace(source, train_reader=original), in_order)
        if reader.original is not None:
            yield CACHE, batches(source, in_order)
    yield "shuffle", batches(source, order)
    if augment is not None:
        yield "change images", batches(source, order, augment)
    if reader is None or reader.plain is not None:
        yield PLAIN, _plain(source, order, augment)


def _plain(source: Source, order: Order, augment: Augment | None) -> Any:
    import tensorflow as tf

    auto = tf.data.AUTOTUNE
    dataset, finish = _examples(source)
    dataset = dataset.repeat().batch(order.global_batch_size).map(finish, auto)
    if augment is not None:
        places = tf.data.Dataset.counter()
        dataset = tf.data.Dataset.zip(dataset, places).map(
            lambda batch, step: augment(batch, (tf.constant(0, tf.int64), step)), auto
        )
    return dataset.prefetch(auto)


def _examples(source: Source) -> tuple[Any, Callable[..., Any]]:
    """Single examples in a shuffled order, and the function that finishes a batch of them."""
    import tensorflow as tf

    reader = source.train_reader
    buffer = min(_BUFFER_EXAMPLES, source.train_examples or _BUFFER_EXAMPLES)
    if reader is None or reader.plain is None:
        return source.train.shuffle(buffer), lambda *batch: batch
    items, parse = reader.plain()
    if reader.original is None:
        examples = items.shuffle(buffer).map(parse, tf.data.AUTOTUNE)
    else:
        examples = items.map(parse, tf.data.AUTOTUNE).cache().shuffle(buffer)
    return examples, lambda *batch: reader.finish(batch)
