"""Runs many steps per call into TensorFlow; knows nothing of the model."""

import time
from collections.abc import Callable
from typing import Any

import tensorflow as tf

_CALL_SECONDS = 0.075  # long enough that a call costs nothing, short enough to stop or log at once


class Loop:
    """Runs a step over an iterator, several steps per call.

    Args:
        step: Computes one batch; returns None, or whether there was one.
        eager: Run without tf.function, one step a call.
        agree: Returns the same number of seconds on every task of the job. TensorFlow tells the
            collectives of a loop apart by their iteration, so tasks must run equally many steps a
            call, or they wait for each other for ever.
    """

    def __init__(
        self,
        step: Callable[[Any], Any],
        eager: bool = False,
        agree: Callable[[float], float] = float,
    ) -> None:
        self._step = step
        self._eager = eager
        self._agree = agree
        self._run = tf.function(self._steps, autograph=False, reduce_retracing=True)
        self._batch = step
        if not eager:
            self._batch = tf.function(step, autograph=False, reduce_retracing=True)
        self._at_once = 1
        self._traced = False
        self._settled = False
        self.input_seconds = 0.0  # in which steps waited for their batch, all together

    def __call__(self, iterator: Any, at_most: int) -> int:
        """Run up to `at_most` steps, fewer when a call would last long; return how many.

        Fewer than asked for may also mean that the data is exhausted: then 0 comes next.
        """
        if self._eager:
            return self._one(iterator)
        steps = min(at_most, self._at_once)
        begin = time.perf_counter()
        ran, waited = self._run(iterator, tf.constant(steps))
        done = int(ran)
        self.input_seconds += float(waited)
        self._measure(done, time.perf_counter() - begin)
        return done

    def one(self, batch: Any) -> None:
        """Run the step on a batch given by hand."""
        self._batch(batch)

    def settle(self) -> None:
        """Do nothing: a call returns when its steps are done and counted."""

    def _one(self, iterator: Any) -> int:
        begin = time.perf_counter()
        batch = next(iterator, None)
        self.input_seconds += time.perf_counter() - begin
        if batch is None:
            return 0
        ran = self._step(batch)
        return int(ran is None or bool(ran))

    def _measure(self, done: int, seconds: float) -> None:
        """Double the steps of a call until it lasts long enough."""
        if not self._traced:
            self._traced = True  # the first call spent its time on tracing
        elif not self._settled and done == self._at_once:
            self._settled = self._agree(seconds) > _CALL_SECONDS / 2
            self._at_once *= 1 if self._settled else 2

    def _steps(self, iterator: Any, at_most: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Run the steps; return how many, and for how many seconds they waited for input."""

        def go_on(done: tf.Tensor, more: tf.Tensor, waited: tf.Tensor) -> tf.Tensor:
            return tf.logical_and(more, done < at_most)

        def once(done: tf.Tensor, more: tf.Tensor, waited: tf.Tensor) -> tuple[tf.Tensor, ...]:
            begin = tf.timestamp()
            with tf.control_dependencies([begin]):
                optional = iterator.get_next_as_optional()
                more = optional.has_value()
            with tf.control_dependencies([more]):
                waited += tf.timestamp() - begin
            more = tf.cond(more, lambda: self._on(optional.get_value()), lambda: tf.constant(False))
            return done + tf.cast(more, tf.int32), more, waited

        none = (tf.constant(0), tf.constant(True), tf.constant(0.0, tf.float64))
        done, _, waited = tf.while_loop(go_on, once, none, parallel_iterations=1)
        return done, waited

    def _on(self, batch: Any) -> tf.Tensor:
        ran = self._step(batch)
        return tf.constant(True) if ran is None else ran
