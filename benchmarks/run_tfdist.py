"""Measure tfdist's `fit` in this process, one of a job or alone; prints JSON."""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

from work import images, peak_mb, warm_up

import tfdist
from tfdist.cluster.processor import set_defaults

PASS = 5  # batches that are learned until a loss is reached


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
    parser.add_argument("--until", type=float, help="train from the start until this loss")
    given = parser.parse_args()
    set_defaults()
    model, data = prepare(given)
    found = {"ms_per_step": measure(model, data, given.steps)} if given.until is None else {}
    if given.until is not None:
        found = until(model, given)
    if tfdist.factory.current().cluster.is_chief:
        print(json.dumps({**found, "mb": peak_mb()}))  # noqa: T201


def prepare(given: argparse.Namespace) -> tuple[Any, Any]:
    """Return the model, made to train as was asked for, and its data."""
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(given.threads)
    tf.config.threading.set_inter_op_parallelism_threads(given.between)
    strategy = tfdist.strategy(transport=given.transport, compression=given.compression)
    import keras
    from work import keras_data, keras_model

    data = keras_data(tf, given.batch)
    with strategy.scope():
        model = tfdist.distribute(keras_model(keras, given.model), sync_period=given.period)
        model.jit_compile = given.jit
    return model, data


def measure(model: Any, data: Any, steps: int) -> float:
    """Return milliseconds per step."""
    model.fit(data, steps_per_epoch=warm_up(steps), epochs=1, verbose=0)
    begin = time.perf_counter()
    model.fit(data, steps_per_epoch=steps, epochs=1, verbose=0)
    return (time.perf_counter() - begin) / steps * 1e3


def until(model: Any, given: argparse.Namespace) -> dict[str, float]:
    """Train on a few batches until their loss is reached; return seconds, steps and the loss.

    The weights are those of the start once all is traced. To evaluate counts no time.
    """
    x, y = images(given.batch * PASS)

    def train() -> None:
        model.fit(x, y, batch_size=given.batch, shuffle=False, verbose=0)

    def loss() -> float:
        return model.evaluate(x, y, batch_size=given.batch, verbose=0, return_dict=True)["loss"]

    weights = model.get_weights()
    train()
    model.set_weights(weights)
    seconds, steps, reached = 0.0, 0, loss()
    while reached > given.until and steps < given.steps:
        begin = time.perf_counter()
        train()
        seconds += time.perf_counter() - begin
        steps += PASS
        reached = loss()
    return {"seconds": seconds, "steps": steps, "loss": reached}


if __name__ == "__main__":
    main()
