import random

import keras
import numpy as np
import pytest

from tfdist.models import build

CASES = [
    ("mlp", (8, 8, 1)),
    ("cnn", (8, 8, 1)),
    ("resnet", (8, 8, 1)),
    ("MobileNetV2", (32, 32, 3)),
]


def weights(name, shape, seed):
    return build(name, shape, 10, seed=seed).get_weights()


def equal(left, right):
    return all(np.array_equal(a, b) for a, b in zip(left, right, strict=True))


@pytest.mark.parametrize(("name", "shape"), CASES)
def test_a_seed_rules_the_weights_whatever_ran_before(name, shape):
    keras.utils.set_random_seed(1)
    first = weights(name, shape, seed=5)
    keras.utils.set_random_seed(2)
    np.random.random(3)
    assert equal(first, weights(name, shape, seed=5))
    assert not equal(first, weights(name, shape, seed=6))


def test_without_a_seed_the_global_state_rules():
    keras.utils.set_random_seed(1)
    first, second = (weights("mlp", (8, 8, 1), None) for _ in range(2))
    keras.utils.set_random_seed(1)
    assert equal(first, weights("mlp", (8, 8, 1), None))
    assert not equal(first, second)


def test_a_seed_leaves_the_global_state_as_it_was():
    keras.utils.set_random_seed(1)
    expected = random.random(), np.random.random()
    keras.utils.set_random_seed(1)
    weights("mlp", (8, 8, 1), seed=5)
    assert (random.random(), np.random.random()) == expected


def test_layers_of_one_model_differ():
    kernels = [w for w in weights("resnet", (8, 8, 1), 5) if w.shape == (3, 3, 16, 16)]
    assert len(kernels) == 2
    assert not np.array_equal(*kernels)
