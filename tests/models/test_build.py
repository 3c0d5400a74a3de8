import numpy as np
import pytest

from tfdist.errors import UsageError
from tfdist.models import NAMES, build

SHAPES = [(8, 8, 1), (28, 28, 1), (32, 32, 3), (33, 70, 3)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", NAMES)
def test_ours_are_built_and_give_logits(name, shape):
    model = build(name, shape, 7, seed=0)
    assert (model.input_shape, model.output_shape) == ((None, *shape), (None, 7))
    assert model.built
    assert not model.compiled
    logits = model(100 * np.random.default_rng(0).normal(size=(5, *shape)).astype(np.float32))
    assert float(abs(logits).numpy().max()) > 1.0


def test_mlp_takes_any_shape():
    assert build("mlp", (13,), 2).output_shape == (None, 2)


def test_cnn_pools_large_images_before_its_dense_layer():
    model = build("cnn", (224, 224, 3), 10)
    assert model.get_layer(index=-4).output.shape == (None, 7, 7, 128)
    assert model.count_params() < 2_000_000


@pytest.mark.parametrize(
    ("name", "shape", "classes", "message"),
    [
        ("cnm", (8, 8, 1), 10, "no model is named 'cnm'.*did you mean 'cnn'"),
        ("ResNet5O", (32, 32, 3), 10, "no model is named 'ResNet5O'.*did you mean 'ResNet50'"),
        ("keras.applications.resnet50", (32, 32, 3), 10, "did you mean 'ResNet50'"),
        ("cnn", (8, 8), 10, r"takes images \(height, width, channels\).*shape \(8, 8\)"),
        ("resnet", (None, 8, 8, 1), 10, "give single images, not batches"),
        ("cnn", (None, None, 3), 10, "takes one array of fixed size.*resize the images"),
        ("mlp", {"a": (3,)}, 10, "takes one array of fixed size.*choose an array"),
        ("VGG16", (8,), 10, "model 'VGG16' takes images"),
        ("mlp", (8, 8, 1), None, "gives num_classes=None: let your dataset's function return"),
        ("mlp", (8, 8, 1), 1, "model 'mlp' needs two classes or more"),
    ],
)
def test_what_does_not_fit(name, shape, classes, message):
    with pytest.raises(UsageError, match=message):
        build(name, shape, classes)
