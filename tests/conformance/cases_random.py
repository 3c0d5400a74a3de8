"""Layers that draw random numbers: other ones on each replica, the same in each run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
from keras import layers, ops
from keras.src.random.seed_generator import global_seed_generator

from tests.conformance import small
from tests.conformance.case import Case, Outcome
from tests.conformance.record import Record

_WIDE = 64


@keras.saving.register_keras_serializable("conformance")
class Pair(layers.Layer):
    """Keeps, over all replicas, the sum and the sum of squares of the two rows of a batch."""

    def build(self, shape: Any) -> None:
        self.sums = self.add_weight(
            shape=(2, *shape[1:]),
            initializer="zeros",
            trainable=False,
            aggregation="sum",
            name="sums",
        )

    def call(self, x: Any, training: bool = False) -> Any:
        if training:
            rows = ops.cast(x, "float32")
            self.sums.assign(self.sums + ops.stack([ops.sum(rows, 0), ops.sum(rows**2, 0)]))
        return x

    def rows_differ(self) -> bool:
        """Whether the two rows a and b of the only batch differed: (a - b)**2 from the sums."""
        total, squares = ops.convert_to_numpy(self.sums)
        return bool(np.any(2 * squares - total**2 > 1e-4))


def _branches(shape: tuple, *made: Callable[[], layers.Layer]) -> Callable[[], keras.Model]:
    def build() -> keras.Model:
        x = layers.Input(shape)
        drawn = [layers.Flatten()(Pair()(make()(x))) for make in made]
        return keras.Model(
            x, layers.Dense(small.CLASSES)(layers.Concatenate()([*drawn, layers.Flatten()(x)]))
        )

    return build


def _same_rows(*shape: int) -> Callable[[], dict]:
    def data() -> dict:
        rng = np.random.default_rng(4)
        x = np.broadcast_to(rng.uniform(0.2, 0.8, shape), (44, *shape)).astype("float32")
        return {"x": x, "y": np.arange(44) % small.CLASSES, "batch_size": 2}

    return data


def _play(model: keras.Model, case: Case) -> Outcome:
    """One step, to compare the rows; then twice the same, to compare the runs."""
    data = case.data()
    quiet = {"batch_size": 2, "shuffle": False, "verbose": 0}
    model.fit(data["x"][:2], data["y"][:2], **quiet)
    differ = {x.name: x.rows_differ() for x in model.layers if isinstance(x, Pair)}
    variables = [*model.variables, global_seed_generator().state]
    start = [np.array(v) for v in variables]
    history = model.fit(data["x"], data["y"], **quiet)
    first = [np.array(v) for v in model.variables]
    for variable, value in zip(variables, start, strict=True):
        variable.assign(value)
    model.fit(data["x"], data["y"], **quiet)
    again = [np.array(v) for v in model.variables]
    same = all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    return Outcome(history.history, seen={"rows differ": all(differ.values()), "again": same})


def _expect(record: Record, reference: Record, replicas: int) -> list[str]:
    names = {"rows differ": "two replicas drew the same", "again": "two runs drew differently"}
    wrong = [names[name] for name, good in record.seen.items() if not good]
    seeds = [
        n
        for n, ((_, a), (_, b)) in enumerate(
            zip(reference.variables, record.variables, strict=True)
        )
        if a.dtype == np.uint32 and not np.array_equal(a, b)
    ]
    return wrong + [f"seed {n} is not that of one device" for n in seeds]


@keras.saving.register_keras_serializable("conformance")
class Unseeded(layers.Layer):
    """Adds numbers drawn without a seed of its own."""

    def call(self, x: Any, training: bool = False) -> Any:
        return x + keras.random.normal(ops.shape(x)) if training else x


def _case(name: str, build: Callable[[], keras.Model], data: Callable[[], dict]) -> Case:
    def compiled() -> dict:
        return {"optimizer": keras.optimizers.SGD(0.1), "loss": small.softmax_loss()}

    return Case(
        name,
        "layers",
        build,
        compiled,
        data,
        data,
        play=_play,
        by_design="each replica draws its own numbers, the same in every run",
        expect=_expect,
    )


CASES = (
    _case("Dropout", _branches((_WIDE,), lambda: layers.Dropout(0.5)), _same_rows(_WIDE)),
    _case(
        "GaussianNoise, GaussianDropout, AlphaDropout, SpatialDropout1D",
        _branches(
            (2, _WIDE),
            lambda: layers.GaussianNoise(0.5),
            lambda: layers.GaussianDropout(0.5),
            lambda: layers.AlphaDropout(0.5),
            lambda: layers.SpatialDropout1D(0.5),
        ),
        _same_rows(2, _WIDE),
    ),
    _case(
        "RandomRotation, RandomContrast, RandomBrightness",
        _branches(
            (6, 6, 1),
            lambda: layers.RandomRotation(0.3),
            lambda: layers.RandomContrast(0.5, value_range=(0, 1)),
            lambda: layers.RandomBrightness(0.5, value_range=(0, 1)),
        ),
        _same_rows(6, 6, 1),
    ),
    _case("random numbers without a seed", _branches((_WIDE,), Unseeded), _same_rows(_WIDE)),
)
