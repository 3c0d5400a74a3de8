"""Measure tf_keras: `fit`, with MultiWorkerMirroredStrategy under TF_CONFIG; prints JSON."""

from __future__ import annotations

import argparse
import json
import os
import time

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")


def main() -> None:
    """Train for a while, then time some steps."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("steps", type=int)
    parser.add_argument("batch", type=int, help="examples in a global batch")
    given = parser.parse_args()
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    several = "TF_CONFIG" in os.environ
    strategy = (
        tf.distribute.MultiWorkerMirroredStrategy() if several else tf.distribute.get_strategy()
    )
    import tf_keras
    from work import keras_data, keras_model, peak_mb, warm_up

    data = keras_data(tf, given.batch)
    with strategy.scope():
        model = keras_model(tf_keras, given.model)
    model.fit(data, steps_per_epoch=warm_up(given.steps), epochs=1, verbose=0)
    begin = time.perf_counter()
    model.fit(data, steps_per_epoch=given.steps, epochs=1, verbose=0)
    ms = (time.perf_counter() - begin) / given.steps * 1e3
    if not several or not strategy.cluster_resolver.task_id:
        print(json.dumps({"ms_per_step": ms, "mb": peak_mb()}))  # noqa: T201


if __name__ == "__main__":
    main()
