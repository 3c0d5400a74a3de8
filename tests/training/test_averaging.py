import keras
import numpy as np
import pytest

import tfdist
from tfdist.errors import UsageError


def _model(units=2):
    layers = [
        keras.layers.Input((3,)),
        keras.layers.Dense(units),
        keras.layers.BatchNormalization(),
    ]
    model = keras.Sequential(layers)
    model.compile(keras.optimizers.Adam(0.01), "mse")
    model.fit(np.random.normal(size=(8, 3)), np.zeros((8, units)), verbose=0)
    return model


def test_the_mean_of_models_is_weighted_and_leaves_them_alone():
    models = [_model(), _model()]
    before = [m.get_weights() for m in models]
    mean = tfdist.average(models, [3, 1])
    for found, one, other in zip(mean.get_weights(), *before, strict=True):
        np.testing.assert_allclose(found, 0.75 * one + 0.25 * other, rtol=1e-6)
    for model, weights in zip(models, before, strict=True):
        for found, expected in zip(model.get_weights(), weights, strict=True):
            np.testing.assert_array_equal(found, expected)


def test_files_give_slots_too(tmp_path):
    models = [_model(), _model()]
    files = [tmp_path / f"{i}.keras" for i in range(2)]
    for model, file in zip(models, files, strict=True):
        model.save(file)
    mean = tfdist.average(files)
    slots = [m.optimizer.variables for m in (mean, *models)]
    assert len(slots[0]) > 2
    for found, one, other in zip(*slots, strict=True):
        np.testing.assert_allclose(found.numpy(), (one.numpy() + other.numpy()) / 2, rtol=1e-6)


@pytest.mark.parametrize("weights", [[1], [1, -1], [0, 0], [1, float("nan")]])
def test_weights_that_cannot_be(weights):
    with pytest.raises(UsageError, match="2 models and the weights"):
        tfdist.average([_model(), _model()], weights)


def test_models_that_have_no_mean():
    with pytest.raises(UsageError, match="model 1 has other weights than model 0"):
        tfdist.average([_model(), _model(3)])
