import numpy as np
import pytest

from tfdist.transport.mpi.buffers import Buffers


def _address(array):
    return array.__array_interface__["data"][0]


@pytest.mark.parametrize("size_bytes", [1, 4000, 1_000_000])
def test_memory_is_aligned_and_of_that_size(size_bytes):
    memory = Buffers().take(size_bytes)
    assert memory.nbytes == size_bytes
    assert _address(memory) % 64 == 0


def test_memory_is_used_again_once_nobody_looks_at_it():
    buffers = Buffers()
    memory = buffers.take(4000)
    address = _address(memory)
    del memory
    assert _address(buffers.take(4000)) == address


def test_memory_that_somebody_looks_at_is_left_alone():
    buffers = Buffers()
    view = buffers.take(4000)[:8].view(np.float32)
    view[:] = 3
    buffers.take(4000)[:] = 0
    assert view.tolist() == [3, 3]


def test_tensors_of_tensorflow_look_at_it():
    import tensorflow as tf

    buffers = Buffers()

    def threes():
        array = buffers.take(4000).view(np.float32)
        array[:] = 3
        return array

    variable = tf.Variable(tf.zeros([1000]))
    tf.function(lambda: variable.assign(tf.numpy_function(threes, [], tf.float32)))()
    buffers.take(4000)[:] = 0
    assert variable.numpy().tolist() == [3] * 1000
