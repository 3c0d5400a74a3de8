"""Optimizers by name."""

import keras
import pytest

from tfdist.run import optimizers

CLASSES = {
    "sgd": keras.optimizers.SGD,
    "momentum": keras.optimizers.SGD,
    "adam": keras.optimizers.Adam,
    "adamw": keras.optimizers.AdamW,
    "lion": keras.optimizers.Lion,
    "rmsprop": keras.optimizers.RMSprop,
    "adagrad": keras.optimizers.Adagrad,
    "nadam": keras.optimizers.Nadam,
    "adafactor": keras.optimizers.Adafactor,
    "lamb": keras.optimizers.Lamb,
    "ftrl": keras.optimizers.Ftrl,
}


def test_all_names_are_tested():
    assert set(optimizers.NAMES) == set(CLASSES)


@pytest.mark.parametrize("name", optimizers.NAMES)
def test_class_and_learning_rate(name):
    assert type(optimizers.build(name)) is CLASSES[name]
    assert optimizers.build(name).name == name
    assert float(optimizers.build(name, 0.5).learning_rate) == 0.5
    own = CLASSES[name]().learning_rate
    assert float(optimizers.build(name).learning_rate) == float(own)


def test_momentum_is_sgd_with_momentum():
    assert optimizers.build("momentum").momentum == 0.9
    assert optimizers.build("sgd").momentum == 0.0
