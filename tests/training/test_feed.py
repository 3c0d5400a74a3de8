"""What is said of batches that each worker makes as a whole."""

import logging

import keras
import tensorflow as tf

from tfdist.training.feed import _tell_of_whole_batches


def test_batches_made_in_python_are_spoken_of_once(caplog):
    with caplog.at_level(logging.WARNING, logger="absl"):
        for task, tasks in ((0, 1), (1, 2)):
            _tell_of_whole_batches(keras.utils.PyDataset(), task, tasks)
        _tell_of_whole_batches(tf.data.Dataset.range(3), 0, 2)
        assert not caplog.messages
        _tell_of_whole_batches(keras.utils.PyDataset(), 0, 2)
        _tell_of_whole_batches((number for number in range(3)), 0, 2)
    (told,) = caplog.messages
    assert told.startswith("each of 2 workers makes all batches of this PyDataset, and trains on")
    assert told.endswith("give tfdist.per_worker(...)")
