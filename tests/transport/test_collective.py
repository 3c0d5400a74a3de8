import json

from tests.processes import run_tasks

_SUMS = """
import json
import tfdist
strategy = tfdist.strategy(transport="ring")
import tensorflow as tf
from tfdist.transport import sum_replicas
rank = tfdist.factory.current().cluster.rank

@tf.function(autograph=False)
def total(n):
    values = lambda: [
        tf.fill([3], n), tf.cast(n, tf.int64), tf.fill([2], n * 2), tf.cast(n, tf.int32)
    ]
    return sum_replicas(strategy, strategy.run(values))

found = total(tf.constant(rank + 1.0))
print(json.dumps([[v.dtype.name, v.numpy().tolist()] for v in found]))
"""


def test_values_of_several_types_over_ring():
    for result in run_tasks(_SUMS):
        assert result.returncode == 0, result.stderr[-2000:]
        expected = [["float32", [3.0] * 3], ["int64", 3], ["float32", [6.0] * 2], ["int32", 3]]
        assert json.loads(result.stdout) == expected
