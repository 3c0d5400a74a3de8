"""Gradients in 16 bits: the same bits on both tasks, near the sum, the rest left as it is."""

import json

import numpy as np
import pytest

from tests.processes import run_tasks
from tests.transport.mpirun import mpirun

_SUMS = """
import json, sys
import tfdist
strategy = tfdist.strategy(transport="{transport}", compression="{compression}")
import tensorflow as tf
from tfdist.factory.wire import wire_of
from tfdist.transport import sum_replicas
rank = tfdist.factory.current().cluster.rank

@tf.function(autograph=False)
def total(steps):
    def body(i, kept):
        values = lambda: [
            tf.random.stateless_normal([7, 3], [rank, i]) * 1e-3,
            tf.random.stateless_normal([5], [rank, 9]),
            tf.fill([1], tf.cast(rank, tf.float32) + 16777215.0),
            tf.fill([4], tf.cast(rank + 1, tf.int32)),
        ]
        return i + 1, sum_replicas(strategy, strategy.run(values), [0, 1, 3])
    shapes = [tf.zeros([7, 3]), tf.zeros([5]), tf.zeros([1]), tf.zeros([4], tf.int32)]
    return tf.while_loop(lambda i, _: i < steps, body, (0, shapes))[1]

wanted = [
    sum(tf.random.stateless_normal([7, 3], [r, 2]) * 1e-3 for r in range(2)),
    sum(tf.random.stateless_normal([5], [r, 9]) for r in range(2)),
]
plain = lambda values: [v.numpy().tolist() for v in values]
told = {{"found": plain(total(tf.constant(3))), "wanted": plain(wanted),
         "road": wire_of(strategy).road}}
sys.stdout.write(json.dumps(told) + "\\n")
"""
_DIGITS = {"bf16": 2.0**-7, "fp16": 2.0**-9}


@pytest.mark.parametrize(("transport", "compression"), [("ring", "bf16"), ("auto", "fp16")])
def test_gradients_in_16_bits(tmp_path, transport, compression):
    script = _SUMS.format(transport=transport, compression=compression)
    if transport == "ring":
        results = run_tasks(script)
        assert [r.returncode for r in results] == [0, 0], results[0].stderr[-2000:]
        lines = [r.stdout.strip() for r in results]
    else:
        result = mpirun(script, tmp_path)
        assert result.returncode == 0, result.stderr[-3000:]
        lines = result.stdout.strip().splitlines()
    one, other = map(json.loads, lines)
    assert one["found"] == other["found"]
    for found, wanted in zip(one["found"][:2], one["wanted"], strict=True):
        np.testing.assert_allclose(
            found, wanted, rtol=0, atol=2 * np.abs(wanted).max() * _DIGITS[compression]
        )
        assert not np.array_equal(np.float32(found), np.float32(wanted))
    assert one["found"][2:] == [[33554432.0], [3, 3, 3, 3]]
    assert one["road"] == other["road"]
    if transport == "auto":
        assert one["road"].partition(",")[0] in ("mpi", "ring")
        assert "4 MB take" in one["road"]
