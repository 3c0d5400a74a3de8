import pytest
import tensorflow as tf

from tfdist.data.dealt import Dealt
from tfdist.training.parts import batch_size, part


@pytest.mark.parametrize("total", [1, 2, 3, 7, 8])
@pytest.mark.parametrize("replicas", [1, 2, 3, 5])
@pytest.mark.parametrize("static", [True, False])
def test_each_row_counts_once(total, replicas, static):
    spec = tf.TensorSpec([total if static else None, 2], tf.int32)

    @tf.function(input_signature=[spec], autograph=False)
    def parts(batch):
        made = [part((batch, None), r, replicas) for r in range(replicas)]
        return [(rows[0], share.rows, share.count, share.weight) for rows, share in made]

    batch = tf.range(total)[:, None] * tf.ones([1, 2], tf.int32)
    counted, weight = [], 0.0
    for rows, size, count, share in parts(batch):
        assert rows.shape[0] == int(size) >= 1
        counted += rows[: int(count), 0].numpy().tolist()
        weight += float(share)
    assert counted == list(range(total))
    assert weight == pytest.approx(1.0)


def test_an_empty_part_repeats_a_row_that_counts_nothing():
    rows, share = part(tf.constant([[5.0]]), 0, 2)
    assert rows.numpy().tolist() == [[5.0]]
    assert (share.rows, share.count, share.total, float(share.present)) == (1, 0, 1, 0.0)


def test_sparse_and_ragged_parts_keep_their_rows():
    dense = tf.constant([[0, 1], [2, 0], [0, 3]])
    rows, _ = part(tf.sparse.from_dense(dense), 1, 2)
    assert tf.sparse.to_dense(rows).numpy().tolist() == [[2, 0], [0, 3]]
    rows, _ = part(tf.ragged.constant([[1], [2, 3], [4]]), 1, 2)
    assert rows.to_list() == [[2, 3], [4]]


def test_scalars_pass_and_do_not_give_the_size():
    batch = {"rate": tf.constant(0.5), "x": tf.zeros([4, 1])}
    assert batch_size(batch) == 4
    rows, _ = part(batch, 0, 2)
    assert float(rows["rate"]) == 0.5
    assert rows["x"].shape[0] == 2


@pytest.mark.parametrize("here", [1, 2, 3])
@pytest.mark.parametrize("sizes", [(4, 1), (2, 0), (5, 7)])
def test_each_row_that_is_dealt_out_counts_once(here, sizes):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32), tf.TensorSpec([], tf.int32)])
    def parts(rows, count):
        dealt = Dealt(rows, count, tf.constant(sum(sizes)))
        made = [part(dealt, n, 2 * here, here) for n in range(here)]
        return [(mine, share.rows, share.count, share.weight) for mine, share in made]

    weight, first = 0.0, 0
    for size in sizes:
        counted = []
        rows = tf.range(first, first + max(size, 1))
        for mine, computed, count, share in parts(rows, tf.constant(size)):
            assert len(mine) == int(computed) >= 1
            counted += mine[: int(count)].numpy().tolist()
            weight += float(share)
        assert counted == list(range(first, first + size))
        first += size
    assert weight == pytest.approx(1.0)
