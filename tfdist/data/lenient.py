"""How are examples read of which some cannot be?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from tfdist.data.bad import BadExamples


def lenient(
    fetch: Callable[[Any], Any],
    parse: Callable[[Any], Any],
    where: Callable[[int], str],
    bad: BadExamples,
    parse_all: Callable[[Any], Any] | None = None,
) -> Callable[[Any], Any]:
    """Return the function, for graphs, that reads the examples of a vector of numbers, as a batch.

    Args:
        fetch: from the numbers to a batch of what `parse` takes; it does not fail.
        parse: from one element of that batch to an example; it may fail.
        where: the name of the file or record of a number.
        bad: counts the examples that are left out because `parse` fails.
        parse_all: the same as `parse` for a whole batch at once, where that is faster.
    """
    import tensorflow as tf

    traced = tf.function(parse, autograph=False)  # Once, however many datasets are made of it.

    def report(numbers: Any, found: Any) -> None:
        for number in sorted(set(numbers.tolist()) - set(found.tolist())):
            bad.add(where(number), _reason(fetch, parse, number))

    def read(numbers: Any) -> Any:
        ways = list(_ways(fetch(numbers), numbers, traced, parse_all))
        first = ways[0]
        for way in ways[1:]:
            first = first.concatenate(way)
        found, batch = first.take(1).get_single_element()
        check = tf.cond(
            tf.size(found) < tf.size(numbers),
            lambda: tf.group(tf.numpy_function(report, [numbers, found], [])),
            tf.no_op,
        )
        with tf.control_dependencies([check]):
            return tf.nest.map_structure(tf.identity, batch)

    return read


def _ways(
    fetched: Any, numbers: Any, parse: Callable[[Any], Any], parse_all: Callable[[Any], Any] | None
) -> Iterator[Any]:
    """Datasets of one element, the numbers and their batch, or none, the best way first."""
    import tensorflow as tf

    # Only a dataset goes on after an error without a call into Python.
    if parse_all is not None:
        whole = tf.data.Dataset.from_tensors((numbers, fetched))
        yield whole.map(lambda n, items: (n, parse_all(items))).ignore_errors()
    single = tf.data.Dataset.from_tensor_slices((numbers, fetched))
    single = single.map(lambda n, item: (n, parse(item))).ignore_errors()
    yield single.batch(tf.maximum(tf.size(numbers, tf.int64), 1))
    nothing = tf.nest.map_structure(
        lambda spec: tf.zeros([0, *spec.shape], spec.dtype), single.element_spec
    )
    yield tf.data.Dataset.from_tensors(nothing)


def _reason(fetch: Callable[[Any], Any], parse: Callable[[Any], Any], number: int) -> str:
    import tensorflow as tf

    try:
        parse(tf.nest.map_structure(lambda part: part[0], fetch(tf.constant([number], tf.int64))))
    except Exception as error:  # Whatever it was, it is what is to be told.
        text = re.sub(r"\{\{.*?\}\}|\[Op:.*?\]", "", str(error)).strip()
        return re.split(r"\. |\n", text)[0].rstrip(". ") or type(error).__name__
    return "it could not be read the first time"
