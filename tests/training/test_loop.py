import time

import tensorflow as tf

from tfdist.training.loop import Loop


def run(agree, batches=100, at_most=1000):
    seen = tf.Variable(0)

    def step(batch):
        seen.assign_add(batch)

    loop = Loop(step, agree=agree)
    iterator = iter(tf.data.Dataset.range(1, batches + 1).map(lambda n: tf.cast(n, tf.int32)))
    calls = []
    while ran := loop(iterator, at_most):
        calls.append(ran)
    return calls, int(seen)


def test_steps_double_until_a_call_lasts_and_no_batch_is_lost():
    times = iter([0.001, 0.002, 0.004, 0.05])
    calls, total = run(lambda seconds: next(times))
    # The first call is spent on tracing, then 1, 2, 4, 8 are measured; 8 lasts long enough.
    assert calls[:6] == [1, 1, 2, 4, 8, 8]
    assert sum(calls) == 100
    assert total == 5050


def test_the_steps_of_a_call_are_what_the_tasks_agreed_on_and_not_what_this_one_measured():
    calls, _ = run(lambda seconds: 1.0)
    assert set(calls) == {1}


def test_never_more_steps_than_asked_for():
    calls, _ = run(lambda seconds: 0.0, batches=20, at_most=3)
    assert max(calls) == 3


def test_eager_runs_one_step_a_call():
    seen = []
    loop = Loop(seen.append, eager=True)
    iterator = iter(tf.data.Dataset.range(3))
    assert [loop(iterator, 10) for _ in range(4)] == [1, 1, 1, 0]
    assert [int(n) for n in seen] == [0, 1, 2]


def test_waiting_for_input_is_counted_and_nothing_else():
    def late(number):
        return tf.py_function(lambda n: time.sleep(0.05) or n, [number], tf.int64)

    options = tf.data.Options()
    options.autotune.enabled = False
    options.experimental_optimization.inject_prefetch = False  # so that nothing is read ahead
    waited = []
    for dataset in (tf.data.Dataset.range(6).map(late), tf.data.Dataset.range(6)):
        loop = Loop(lambda batch: None)
        iterator = iter(dataset.with_options(options))
        while loop(iterator, 3):
            pass
        waited.append(loop.input_seconds)
    assert waited[0] >= 6 * 0.05
    assert waited[0] > waited[1] > 0
