"""One global batch, whatever is done with it: one way serves every strategy.

Inside `strategy.run` each replica computes on its rows and changes nothing: it returns its addend
of the global gradient and of every state. One sum over the replicas carries all of it. Outside, in
the cross-replica context, the optimizer applies the one global gradient once, so that clipping,
accumulation, averaging and loss scaling all see what one device would have seen.
"""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import keras
import tensorflow as tf

from tfdist.data.dealt import Declared, batch_of
from tfdist.training import internals
from tfdist.training.capture import Capture
from tfdist.training.declared import agreed
from tfdist.training.faults import Faults
from tfdist.training.own_logs import OwnLogs
from tfdist.training.parts import part
from tfdist.training.share import NeedsOthersError, Share, computing
from tfdist.training.state import State, collect, write
from tfdist.transport import first, here, join_replicas, sum_replicas
from tfdist.transport.factors import multiply


class Step:
    """Base of the steps: runs `replica` on each replica, `write` and `count` on the sums.

    Args:
        model: The compiled and built Keras model.
        strategy: The strategy whose replicas compute.
        adds_up: Whether the metrics of all replicas add up to those of the global batch; when not,
            the outputs of all replicas are brought together and measured as one batch.
    """

    def __init__(
        self, model: keras.Model, strategy: tf.distribute.Strategy, adds_up: bool = True
    ) -> None:
        self.model = model
        self.strategy = strategy
        self.adds_up = adds_up
        self.remote = False  # whether another process than this counts the metrics
        self.jit = bool(model.jit_compile) and not model.run_eagerly
        self.state = State()
        self.logs = OwnLogs(model)
        self.faults: Faults | None = None  # where losses that are not finite are noted
        self.graph: Any = None  # in which TensorFlow last traced it; None where it runs eagerly
        self._seed = internals.global_seed()

    def __call__(self, batch: Any) -> Any:
        """Compute one global batch; writes weights, metrics and other state.

        Returns:
            Whether there was a batch: None for yes, or a boolean that all tasks agree on, where
            each of them knows its own data only.
        """
        if not isinstance(batch, Declared):
            return self._whole(batch)
        dealt, goes_on = agreed(self.strategy, batch)
        if tf.executing_eagerly():
            if dealt.total > 0:
                self._whole(dealt)
            return goes_on
        tf.cond(dealt.total > 0, lambda: self._done(dealt), lambda: tf.constant(0))
        return goes_on

    def _done(self, batch: Any) -> tf.Tensor:
        self._whole(batch)
        return tf.constant(0)

    def _whole(self, batch: Any) -> None:
        batch = without_optionals(batch)
        sums = self.compute(batch)
        self.write(sums)
        self.count(batch, sums)

    def on_worker(self, batch: Any) -> dict[str, Any]:
        """Compute a global batch where the caller is a worker; return what the chief counts."""
        sums = self.compute(batch)
        with internals.outside_strategy():
            self.write(sums)
        return {k: sums[k] for k in ("added", "bad", "logs", "outputs") if sums.get(k) is not None}

    def compute(self, batch: Any) -> dict[str, Any]:
        """Return the sums over all replicas, the same on every task."""
        self.graph = None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()
        outputs = self.strategy.run(self._run_replica, (batch,))
        whole = outputs.pop("outputs", None)
        if whole is not None:
            whole = tf.nest.map_structure(partial(join_replicas, self.strategy), whole)
        factors = multiply(self.strategy, outputs.pop("factors", []))
        equal = [first(self.strategy, v) for v in outputs.pop("equal")]
        names = sorted(outputs)
        kinds = [name for name in names for _ in outputs[name]]
        gradients = [i for i, name in enumerate(kinds) if name == "gradients"]
        values = [v for name in names for v in outputs[name]]
        flat = sum_replicas(self.strategy, values, gradients)
        sums = iter(flat)
        summed: dict[str, Any] = {name: [next(sums) for _ in outputs[name]] for name in names}
        return summed | {"equal": equal, "outputs": whole, "factors": factors}

    @tf.autograph.experimental.do_not_convert
    def _run_replica(self, batch: Any) -> dict[str, list]:
        context = tf.distribute.get_replica_context()
        replica = int(tf.get_static_value(context.replica_id_in_sync_group) or 0)
        replicas = self.strategy.num_replicas_in_sync
        mine, share = part(batch, replica, replicas, here(self.strategy))
        share = self.share_of(share)
        if self.jit:
            try:
                return self._compiled(mine, share)
            except NeedsOthersError:
                self.jit = False
                warnings.warn(
                    "jit_compile is left off: the step needs a sum over all replicas before its "
                    "end (synchronized statistics, masks, weighted means, an own train_step).",
                    stacklevel=2,
                )
        return self._part(mine, share)

    def _compiled(self, mine: Any, share: Share) -> dict[str, Any]:
        """Compute a part by XLA; the sum over the replicas and the update stay outside."""

        @partial(tf.function, jit_compile=True, autograph=False)
        def compiled(mine: Any, read: list, rows: Any, count: Any, total: Any) -> dict[str, Any]:
            inside = replace(share, rows=rows, count=count, total=total, compiled=True)
            return self._part(mine, inside, list(zip(variables, read, strict=True)))

        # XLA reads no variable of another device, so all are read before.
        scalars = [v for v in getattr(self.model.optimizer, "variables", ()) if not v.shape]
        variables = self.model.variables + scalars
        read = [tf.convert_to_tensor(internals.raw(v)) for v in variables]
        return compiled(mine, read, share.rows, share.count, share.total)

    def _part(self, mine: Any, share: Share, read: Sequence = ()) -> dict[str, Any]:
        internals.use_global_seed(self._seed)
        counters = counters_of(self.model) if self.remote or share.replicas > 1 else set()
        with computing(share), Capture(share, counters, read) as capture:
            values, logs = self.replica(mine, share, capture)
            values |= {"logs": self.logs.addends(logs, share, capture)}
        return values | collect(capture, counters, share, self.state)

    def share_of(self, share: Share) -> Share:
        """Return what a replica's part counts for."""
        return share

    def replica(self, batch: Any, share: Share, capture: Capture) -> tuple[dict, Any]:
        """Compute one replica's part: lists of values to be summed, and the logs."""
        raise NotImplementedError

    def metrics(self, batch: Any, y_pred: Any, share: Share) -> tuple[dict, Any]:
        """Measure a replica's outputs, or hand them over to be measured with the others'."""
        x, y, sample_weight = internals.unpack(batch)
        if not self.adds_up:
            # Where no task has the whole batch, what it is measured by travels with the outputs.
            whole = (y_pred, self._measured_by(x, y, sample_weight) if share.made_up else {})
            return {"outputs": tf.nest.map_structure(lambda v: v[: share.count], whole)}, None
        return {}, self.model.compute_metrics(x, y, y_pred, sample_weight=sample_weight)

    def _measured_by(self, x: Any, y: Any, sample_weight: Any) -> dict[str, Any]:
        own = type(self.model).compute_metrics is not keras.Model.compute_metrics
        known = {"x": x if own else None, "y": y, "sample_weight": sample_weight}
        return {name: value for name, value in known.items() if value is not None}

    def write(self, sums: dict[str, Any]) -> None:
        """Write the state in the cross-replica context."""
        write(self.state, sums)

    def count(self, batch: Any, sums: dict[str, Any]) -> None:
        """Add what a step returned to the metrics and logs, which live in this process."""
        for variable, value in zip(self.state.added, sums["added"], strict=True):
            internals.raw(variable).assign_add(value)
        if sums.get("outputs") is not None:
            y_pred, joined = sums["outputs"]
            x, y, sample_weight = internals.unpack(batch_of(batch))
            known = {"x": x, "y": y, "sample_weight": sample_weight} | joined
            self.model.compute_metrics(y_pred=y_pred, **known)
        self.logs.keep(sums["logs"])
        for flags in sums.get("bad", ()):
            self.faults.note(flags)  # type: ignore[union-attr]


def counters_of(model: keras.Model) -> set[int]:
    """Return the ids of the variables of metrics, whose increments add up over replicas."""
    every = (v for metric in model.metrics for v in metric.variables)
    return {id(v) for v in every if v.aggregation == "sum"}


def without_optionals(batch: Any) -> Any:
    """Return a batch with None where a part is absent."""
    return tf.nest.map_structure(
        lambda leaf: None if isinstance(leaf, tf.experimental.Optional) else leaf, batch
    )
