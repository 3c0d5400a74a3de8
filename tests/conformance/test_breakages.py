"""A step that is broken on purpose is found: each breakage makes the comparison fail."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import keras
import pytest
import tensorflow as tf

from tests.conformance import run
from tests.conformance.cases import BY_NAME
from tests.conformance.judge import judge
from tests.conformance.record import Record
from tests.conformance.small import BATCH
from tfdist.training import share
from tfdist.training.feed import Feed
from tfdist.training.replica import TrainStep
from tfdist.training.step import Step


def divide_by_the_local_count(patch: pytest.MonkeyPatch) -> None:
    """Every replica's mean counts as much as any other's, however many examples it is of."""
    patch.setattr(share.Share, "weight", property(lambda self: tf.constant(1 / self.replicas)))


def clip_before_the_reduction(patch: pytest.MonkeyPatch) -> None:
    """Each replica clips its own gradient; their sum is applied as it is."""
    clip, part = keras.optimizers.Optimizer._clip_gradients, TrainStep.replica

    def clipping(self: TrainStep, *args: Any) -> Any:
        values, logs = part(self, *args)
        return values | {"gradients": clip(self.model.optimizer, values["gradients"])}, logs

    patch.setattr(TrainStep, "replica", clipping)
    patch.setattr(keras.optimizers.Optimizer, "_clip_gradients", lambda self, gradients: gradients)


def skip_the_last_partial_batch(patch: pytest.MonkeyPatch) -> None:
    """Batches that are not full are left out."""
    make = Feed.__init__

    def skipping(self: Feed, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **kwargs)
        self._dataset = self._dataset.filter(
            lambda *batch: tf.shape(tf.nest.flatten(batch)[0])[0] == BATCH
        )

    patch.setattr(Feed, "__init__", skipping)


def reduce_metrics_by_mean(patch: pytest.MonkeyPatch) -> None:
    """The increments of the replicas are averaged instead of added."""
    count = Step.count

    def averaging(self: Step, batch: Any, sums: dict[str, Any]) -> None:
        share = 1 / self.strategy.num_replicas_in_sync
        added = [tf.cast(tf.cast(v, tf.float32) * share, v.dtype) for v in sums["added"]]
        count(self, batch, sums | {"added": added})

    patch.setattr(Step, "count", averaging)


@pytest.mark.parametrize("strategy", ["mirrored", "central_storage"])
@pytest.mark.parametrize(
    ("breakage", "name", "complaint"),
    [
        (divide_by_the_local_count, "uneven last batch", "variables .* differs"),
        (clip_before_the_reduction, "global_clipnorm", "variables .* differs"),
        (clip_before_the_reduction, "clipvalue", "variables .* differs"),
        (skip_the_last_partial_batch, "uneven last batch", "iterations is .*20.*, not .*24"),
        (reduce_metrics_by_mean, "metrics of two classes", "logs .* differs"),
    ],
)
def test_a_broken_step_is_found(
    breakage: Callable[[pytest.MonkeyPatch], None],
    name: str,
    complaint: str,
    strategy: str,
    made: Callable[[str], tf.distribute.Strategy],
    reference: Callable[[str, int], Record],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    case = BY_NAME[name]
    expected = reference(name, 2)
    whole = judge(case, strategy, expected, [run.play(case, made(strategy), run.distributed)])
    assert whole.verdict == "equal", whole.wrong
    breakage(monkeypatch)
    broken = judge(case, strategy, expected, [run.play(case, made(strategy), run.distributed)])
    assert broken.verdict == "differs"
    assert any(re.search(complaint, sentence) for sentence in broken.wrong), broken.wrong
