"""Errors of TensorFlow as the errors that they come from."""

import pytest
import tensorflow as tf

from tfdist.errors import StartAgainError, UsageError
from tfdist.factory import failures
from tfdist.factory.failures import translated


@pytest.mark.parametrize("kind", [UsageError, StartAgainError])
def test_an_error_of_ours_comes_out_of_a_graph_as_itself(kind):
    def fail(number):
        raise kind("the 3rd file is bad: leave it out.")

    data = tf.data.Dataset.range(3).map(lambda n: tf.py_function(fail, [n], tf.int64))
    with pytest.raises(kind) as raised, translated():
        list(data)
    assert str(raised.value) == "the 3rd file is bad: leave it out."


class Others:
    """A channel and a watchdog that know of a loss, or of none."""

    fatal = None
    suspect = None


@pytest.fixture
def others(monkeypatch):
    known = Others()
    known.channel = known.watchdog = known
    monkeypatch.setattr(failures, "last", lambda: known)
    monkeypatch.setattr(failures, "_HEAR_SECONDS", 0.1)
    return known


UNAVAILABLE = tf.errors.UnavailableError(None, None, "Connection reset by peer")
ABORTED = tf.errors.InvalidArgumentError(None, None, "Collective ops is aborted by: no")
OWN = tf.errors.InvalidArgumentError(None, None, "Incompatible shapes: [3] vs. [4]")


@pytest.mark.parametrize("error", [UNAVAILABLE, ABORTED])
@pytest.mark.parametrize("source", ["fatal", "suspect"])
def test_the_task_that_is_lost_is_named(error, source, others):
    setattr(others, source, "worker 1 is lost")
    with pytest.raises(StartAgainError, match="worker 1 is lost"), translated():
        raise error


def test_an_error_of_this_task_stays_though_another_is_lost(others):
    others.fatal = "worker 1 is lost"
    with pytest.raises(tf.errors.InvalidArgumentError), translated():
        raise OWN


def test_a_loss_that_nobody_knows_of_stays_an_error_of_tensorflow(others):
    with pytest.raises(tf.errors.UnavailableError), translated():
        raise UNAVAILABLE
