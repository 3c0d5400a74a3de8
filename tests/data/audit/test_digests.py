import numpy as np
import pytest

from tfdist.data.audit.digests import of_batch


def rows(*values):
    """The digests of examples, each given in several equal batches of different make."""
    import tensorflow as tf

    return of_batch(tf.constant(values))


@pytest.mark.parametrize(
    "values",
    [[1, 2, 3, 1], [[1.0, 2.0], [2.0, 1.0], [1.0, 3.0], [1.0, 2.0]], ["a", "b", "", "a"]],
)
def test_equal_examples_have_equal_digests_and_others_have_not(values):
    digests = rows(*values)
    assert [len(each) for each in digests] == [16] * 4
    assert digests[0] == digests[3] == rows(values[0])[0]
    assert len(set(digests)) == 3


def test_every_part_of_an_example_counts():
    import tensorflow as tf

    def digest(a, b, text):
        batch = {"a": tf.constant([a]), "b": (tf.constant([b]), tf.constant([text]))}
        return of_batch(batch)[0]

    assert digest(1, 2, "x") == digest(1, 2, "x")
    others = [digest(1, 2, "x"), digest(2, 1, "x"), digest(1, 2, "y"), digest(1, 3, "x")]
    assert len(set(others)) == 4


def test_rows_of_any_length():
    import tensorflow as tf

    ragged = tf.ragged.constant([[1, 2], [], [1], [1, 2]])
    sparse = tf.sparse.from_dense([[0, 1], [0, 0], [1, 0], [0, 1]])
    for batch in (ragged, sparse):
        digests = of_batch(batch)
        assert digests[0] == digests[3]
        assert len(set(digests)) == 3


def test_a_row_is_not_cut_short():
    long = np.zeros((2, 5000), np.float32)
    long[1, 2500] = 1
    assert len(set(of_batch(long))) == 2
