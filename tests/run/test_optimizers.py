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


def test_the_learning_rate_is_multiplied_and_rises_to_its_value():
    optimizer = optimizers.build("sgd", 0.5, factor=2, warmup_steps=4)
    weight = keras.Variable([0.0])
    seen = []
    for _ in range(6):
        seen.append(float(optimizer.learning_rate))
        optimizer.apply([keras.ops.ones(1)], [weight])
    assert seen == [0.25, 0.5, 0.75, 1, 1, 1]
    assert weight.numpy() == -4.5
    again = keras.optimizers.deserialize(keras.optimizers.serialize(optimizer))
    assert again._learning_rate.get_config() == {"learning_rate": 1.0, "steps": 4}


def test_steps_are_accumulated():
    optimizer = optimizers.build("sgd", 1.0, accumulate_steps=2)
    weight = keras.Variable([0.0])
    seen = []
    for gradient in (1.0, 3.0, 5.0, 7.0):
        optimizer.apply([keras.ops.full((1,), gradient)], [weight])
        seen.append(float(weight.numpy()[0]))
    assert seen == [0, -2, -2, -8]
