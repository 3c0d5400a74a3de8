"""Errors of TensorFlow as the errors that they come from."""

import pytest
import tensorflow as tf

from tfdist.cluster import Cluster, Task
from tfdist.errors import StartAgainError, UsageError
from tfdist.factory import failures
from tfdist.factory.failures import connecting, translated


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


TASK = Cluster({"worker": {0: "10.0.0.1:2000", 1: "10.0.0.2:2000"}}, Task("worker", 1))
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


@pytest.mark.parametrize(
    ("error", "fatal", "said"),
    [
        (UNAVAILABLE, "worker 0 is lost", "worker 0 is lost"),
        (UNAVAILABLE, None, "could not be connected to the other tasks .*Connection reset by peer"),
        (
            tf.errors.UnknownError(None, None, "Could not start gRPC server\nmore"),
            None,
            "worker 1 at 10.0.0.2:2000 could not open its port, which another program has taken",
        ),
    ],
)
def test_whatever_fails_as_tensorflow_connects_is_worth_another_try(others, error, fatal, said):
    others.fatal = fatal
    with pytest.raises(StartAgainError, match=said), connecting(TASK, others, others):
        raise error
