"""Measure tfdist's `fit` in this process, one of a job or alone; prints JSON."""

from __future__ import annotations

import argparse
import json
import time

from work import peak_mb

import tfdist
from tfdist.cluster.processor import set_defaults


def main() -> None:
    """Train for a while, then time some steps."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("steps", type=int)
    parser.add_argument("batch", type=int, help="examples in a global batch")
    parser.add_argument("--transport", default="auto")
    parser.add_argument("--compression", default="none")
    parser.add_argument("--period", type=int, help="steps from one average to the next")
    parser.add_argument("--threads", type=int, default=1, help="within an operation")
    parser.add_argument("--between", type=int, default=1, help="threads between operations")
    parser.add_argument("--jit", action="store_true")
    given = parser.parse_args()
    set_defaults()
    ms = measure(given)
    if tfdist.factory.current().cluster.is_chief:
        print(json.dumps({"ms_per_step": ms, "mb": peak_mb()}))  # noqa: T201


def measure(given: argparse.Namespace) -> float:
    """Return milliseconds per step."""
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(given.threads)
    tf.config.threading.set_inter_op_parallelism_threads(given.between)
    strategy = tfdist.strategy(transport=given.transport, compression=given.compression)
    import keras
    from work import keras_data, keras_model, warm_up

    data = keras_data(tf, given.batch)
    with strategy.scope():
        model = tfdist.distribute(keras_model(keras, given.model), sync_period=given.period)
        model.jit_compile = given.jit
    model.fit(data, steps_per_epoch=warm_up(given.steps), epochs=1, verbose=0)
    begin = time.perf_counter()
    model.fit(data, steps_per_epoch=given.steps, epochs=1, verbose=0)
    return (time.perf_counter() - begin) / given.steps * 1e3


if __name__ == "__main__":
    main()
