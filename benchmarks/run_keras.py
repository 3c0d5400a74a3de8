"""Measure `fit` of Keras 3 or tf_keras, under TF_CONFIG with MultiWorkerMirrored; prints JSON."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")


def main() -> None:
    """Train for a while, then time some steps."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("steps", type=int)
    parser.add_argument("batch", type=int, help="examples in a global batch")
    parser.add_argument("--keras", default="tf_keras", choices=("keras", "tf_keras"))
    parser.add_argument("--threads", type=int, default=1, help="within and between operations")
    given = parser.parse_args()
    if given.keras == "tf_keras":
        os.environ["TF_USE_LEGACY_KERAS"] = "1"
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(given.threads)
    tf.config.threading.set_inter_op_parallelism_threads(given.threads)
    several = "TF_CONFIG" in os.environ
    strategy = (
        tf.distribute.MultiWorkerMirroredStrategy() if several else tf.distribute.get_strategy()
    )
    keras = importlib.import_module(given.keras)
    from work import keras_data, keras_model, peak_mb, warm_up

    data = keras_data(tf, given.batch)
    with strategy.scope():
        model = keras_model(keras, given.model)
    model.fit(data, steps_per_epoch=warm_up(given.steps), epochs=1, verbose=0)
    begin = time.perf_counter()
    model.fit(data, steps_per_epoch=given.steps, epochs=1, verbose=0)
    ms = (time.perf_counter() - begin) / given.steps * 1e3
    if not several or not strategy.cluster_resolver.task_id:
        print(json.dumps({"ms_per_step": ms, "mb": peak_mb()}))  # noqa: T201


if __name__ == "__main__":
    main()
