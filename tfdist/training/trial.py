"""Does XLA make a step faster? Tried on the first batch, before any step is taken.

A step is computed both ways and nothing of it is written, so that the trial changes no number. XLA
is taken where it yields the same gradient and saves time on the average over the tasks.
"""

import statistics
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf

from tfdist.data.dealt import Declared
from tfdist.training.loop import Loop
from tfdist.training.replica import is_own
from tfdist.training.step import Step, without_optionals

_GAIN = 0.95  # of the time at most, or XLA is not worth compiling again for every size of batch
_SECONDS = 1.0  # of both ways together, after the first calls
_LEAST, _MOST = 3, 15  # times each is timed
# Of the gradient's norm: rounding is far below, other random numbers are far above.
_ROUNDING = {"float32": 1e-3, "float64": 1e-6}
_COARSE = 5e-2  # where layers compute in 16 bits
_REFUSED = (tf.errors.InvalidArgumentError, tf.errors.UnimplementedError, tf.errors.NotFoundError)


class Tried:
    """Runs a step as `Loop` does, by XLA where a trial shows that to be faster.

    Args:
        step: Computes one batch; its `jit` is set by the trial.
        loop: Runs the step.
        agree: Returns the mean over the tasks of a number, the same on every task.
        speaks: Whether to write what was found.
    """

    def __init__(
        self, step: Step, loop: Loop, agree: Callable[[float], float], speaks: bool
    ) -> None:
        self._step = step
        self._loop = loop
        self._agree = agree
        self._speaks = speaks
        self._is_due = True
        step.jit = False

    def __call__(self, iterator: Any, at_most: int) -> int:
        """Run up to `at_most` steps; return how many."""
        if not self._is_due:
            return self._loop(iterator, at_most)
        self._is_due = False
        reason = self._unsuited(iterator.element_spec)
        if reason:
            self._settle(False, reason)
            return self._loop(iterator, at_most)
        batch = next(iterator, None)
        if batch is None:
            return 0
        self._settle(*self._try(iterator.element_spec, batch))
        self._loop.one(batch)
        return 1

    def one(self, batch: Any) -> None:
        """Run the step on a batch given by hand."""
        self._loop.one(batch)

    def settle(self) -> None:
        """Wait for the steps."""
        self._loop.settle()

    @property
    def input_seconds(self) -> float:
        """For how long steps waited for their batch."""
        return self._loop.input_seconds

    def _unsuited(self, spec: Any) -> str | None:
        """Return why a step cannot be computed without being taken, or on one task's say."""
        if not is_own(self._step.model, "train_step"):
            return "the train_step is the model's own"
        if self._step.model.run_eagerly:
            return "the model runs eagerly"
        if isinstance(spec, Declared):
            return "each worker has data of its own"
        return None

    def _try(self, spec: Any, batch: Any) -> tuple[bool, str]:
        """Return whether to compile, and why; the same on every task."""
        plain = self._computed(spec, batch, jit=False)
        compiled = self._computed(spec, batch, jit=True)
        gradient = _gradient(plain())
        begin = time.perf_counter()
        refusal, off = "", 0.0
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that it is left off is what we say ourselves
                off = _distance(gradient, _gradient(compiled()))
            refusal = "" if self._step.jit else "the step needs a sum over replicas before its end"
        except _REFUSED as error:
            refusal = f"XLA refuses the step: {_reason(error)}"
        seconds = time.perf_counter() - begin
        if self._agree(float(bool(refusal))) > 0:
            return False, refusal or "another task cannot compile the step"
        if self._agree(float(off > _tolerance(self._step.model))) > 0:
            return False, (
                f"the gradient differs by {off:.1g} of its norm: XLA draws other random numbers, "
                "or does not compute the same"
            )
        ms = [each * 1e3 for each in self._timed(plain, compiled)]
        return ms[1] < ms[0] * _GAIN, (
            f"gradient and exchange of a step take {ms[1]:.3g} ms by XLA and {ms[0]:.3g} ms "
            f"without; it was compiled in {seconds:.1f} s"
        )

    def _computed(self, spec: Any, batch: Any, jit: bool) -> Callable[[], Any]:
        """Return what computes a step on the batch, as the loop would trace it."""

        def compute(batch: Any) -> Any:
            self._step.jit = jit
            return self._step.compute(without_optionals(batch))

        function = tf.function(compute, autograph=False, input_signature=[spec])
        return lambda: function(batch)

    def _timed(self, *ways: Callable[[], Any]) -> list[float]:
        """Return the seconds that each way takes, over the tasks; order alternated."""
        once = sum(self._agree(_seconds(way)) for way in ways)
        times: list[list[float]] = [[] for _ in ways]
        for turn in range(max(_LEAST, min(_MOST, int(_SECONDS / once)))):
            order = range(len(ways)) if turn % 2 == 0 else reversed(range(len(ways)))
            for i in order:
                times[i].append(_seconds(ways[i]))
        return [self._agree(statistics.median(each)) for each in times]

    def _settle(self, jit: bool, why: str) -> None:
        self._step.jit = jit
        if self._speaks:
            sys.stdout.flush()
            sys.stderr.write(f"tfdist: jit {'on' if jit else 'off'}: {why}\n")
            sys.stderr.flush()


def _seconds(way: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    found = [v for v in tf.nest.flatten(way(), expand_composites=True) if v is not None]
    min(found, key=lambda v: v.shape.num_elements()).numpy()  # once the devices have done it all
    return time.perf_counter() - begin


def _reason(error: tf.errors.OpError) -> str:
    """Return the line of an error that names the operation, without the stacks around it."""
    lines = [line.strip() for line in error.message.splitlines() if line.strip()]
    return next((line for line in lines if "unsupported" in line), lines[0])[:300]


def _gradient(sums: dict[str, Any]) -> list[tf.Tensor]:
    found = [*sums["gradients"], *sums["factors"]]
    return [tf.cast(g.values if isinstance(g, tf.IndexedSlices) else g, tf.float64) for g in found]


def _distance(one: list[tf.Tensor], other: list[tf.Tensor]) -> float:
    """Return the norm of the difference as a part of the first's."""
    pairs = zip(one, other, strict=True)
    return float(
        tf.math.divide_no_nan(
            tf.linalg.global_norm([a - b for a, b in pairs]), tf.linalg.global_norm(one)
        )
    )


def _tolerance(model: keras.Model) -> float:
    kinds = {layer.compute_dtype for layer in model._flatten_layers()}
    return max(_ROUNDING.get(str(kind), _COARSE) for kind in kinds)
