import json

import pytest

from tests.transport.mpirun import mpirun

_SUMS = """
import json
import tfdist
strategy = tfdist.strategy(transport="mpi")
import numpy as np, tensorflow as tf
from tfdist.factory.mpi import world_of
from tfdist.transport import sum_replicas
from tfdist.transport.mpi import exchange
from functools import partial
exchange.fill = partial(exchange.fill, bucket_bytes=64, alone_bytes=32)
rank = world_of(strategy).comm.Get_rank()

def values(n):
    slices = tf.IndexedSlices(tf.fill([rank + 1, 2], n), tf.range(rank + 1), tf.constant([9, 2]))
    return [
        tf.fill([3, 4], n), tf.cast(n, tf.bfloat16), tf.cast(n, tf.float16), tf.cast(n, tf.int64),
        tf.zeros([0, 5]), slices, tf.complex(n, 1.0), tf.cast(tf.fill([20], n), tf.float64),
    ]

def summed(n):
    return [tf.nest.flatten(v, expand_composites=True) for v in sum_replicas(strategy, values(n))]

@tf.function(autograph=False)
def steps(n):
    def body(i, kept):
        found = summed(tf.cast(rank + 1 + i, tf.float32))
        some = [tf.reduce_sum(found[0]), tf.cast(found[7][0][3], tf.float32)]
        return i + 1, kept + tf.stack(some)
    return tf.while_loop(lambda i, _: i < n, body, (0, tf.zeros([2])))[1]

def plain(found):
    return [[[v.dtype.name, np.asarray(v.numpy(), "complex64").real.tolist()] for v in each]
            for each in found]

mine = tf.constant(float(rank + 1))
sent = tf.function(summed, autograph=False)(mine)
text = json.dumps({"rank": rank, "graph": plain(sent), "eager": plain(summed(mine)),
                   "loop": steps(200).numpy().tolist()})
import sys
sys.stdout.write(text + "\\n")
"""

_THREE = 1 + 2 + 3


@pytest.fixture(scope="module")
def summed(tmp_path_factory):
    result = mpirun(_SUMS, tmp_path_factory.mktemp("sums"), ranks=3)
    assert result.returncode == 0, result.stderr[-3000:]
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.parametrize("way", ["graph", "eager"])
def test_every_type_is_summed_over_three_tasks(summed, way):
    assert sorted(task["rank"] for task in summed) == [0, 1, 2]
    for task in summed:
        whole, bfloat, half, integer, empty, slices, complex_, double = task[way]
        assert whole == [["float32", [[_THREE] * 4] * 3]]
        assert bfloat == [["bfloat16", _THREE]]
        assert half == [["float16", _THREE]]
        assert integer == [["int64", _THREE]]
        assert empty == [["float32", []]]
        assert complex_ == [["complex64", _THREE]]
        assert double == [["float64", [_THREE] * 20]]
        assert slices[0] == ["float32", [[n, n] for n in (1, 2, 2, 3, 3, 3)]]
        assert slices[1] == ["int32", [0, 0, 1, 0, 1, 2]]


def test_the_steps_of_a_loop_do_not_mix(summed):
    expected = sum(_THREE + 3 * i for i in range(200))
    for task in summed:
        assert task["loop"] == [12 * expected, expected]
