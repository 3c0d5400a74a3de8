"""Each of our models learns, in plain Keras on one device."""

import keras
import pytest

from tfdist.data import load
from tfdist.models import NAMES, build


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    return load("digits", str(tmp_path_factory.mktemp("digits")))


@pytest.mark.parametrize("name", NAMES)
def test_digits_are_learnt_in_ten_epochs(digits, name):
    model = build(name, digits.input_shape, digits.num_classes, seed=0)
    model.compile(
        optimizer=keras.optimizers.Adam(1e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    train = digits.train.shuffle(digits.train_examples, seed=0).batch(64)
    model.fit(train, epochs=10, verbose=0)
    _, accuracy = model.evaluate(digits.validation.batch(360), verbose=0)
    assert accuracy > 0.95
