import numpy as np
import pytest

from tfdist.models import applications, build

ONE_OF_EACH_KIND = [  # Name, shape of the data, sizes after the first layers.
    ("MobileNetV2", (28, 28, 1), 32),
    ("keras.applications.ResNet50V2", (32, 32, 3), 32),
    ("MobileNetV3Small", (8, 8, 1), 32),
    ("EfficientNetB0", (28, 28, 1), 32),
    ("EfficientNetV2B0", (28, 28, 1), 32),
    ("ConvNeXtTiny", (28, 28, 1), 32),
    ("InceptionV3", (32, 32, 3), 75),
    ("VGG16", (40, 48, 1), None),
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("name", "shape", "side"), ONE_OF_EACH_KIND)
def test_head_and_input_fit_the_data(name, shape, side):
    model = build(name, shape, 7, seed=0)
    assert (model.input_shape, model.output_shape) == ((None, *shape), (None, 7))
    resizing = [each for each in model.layers if type(each).__name__ == "Resizing"]
    sides = [each.output.shape[1:3] for each in resizing]
    assert sides == ([] if side in (None, shape[0]) else [(side, side)])
    assert getattr(model.layers[-1], "activation", None).__name__ == "linear"
    assert model(np.zeros((2, *shape), np.float32), training=True).shape == (2, 7)


def test_a_narrow_image_is_enlarged_on_that_side_only():
    model = build("MobileNetV2", (40, 20, 3), 7)
    assert [each.output.shape for each in model.layers if "resizing" in each.name] == [
        (None, 40, 32, 3)
    ]


@pytest.mark.parametrize("name", ["EfficientNetB0", "EfficientNetV2B0", "MobileNetV3Small"])
def test_pixels_reach_the_first_convolution_as_they_are(name):
    """Built-in preprocessing is left out, or undone where it cannot be."""
    import keras

    model = build(name, (32, 32, 3), 7)
    first = next(each for each in model.layers if isinstance(each, keras.layers.Conv2D))
    before = keras.Model(model.input, first.input)
    pixels = np.random.default_rng(0).uniform(size=(2, 32, 32, 3)).astype(np.float32)
    seen = before(pixels).numpy()[:, :32, :32]
    np.testing.assert_allclose(seen, pixels, atol=1e-5)


def test_all_architectures_are_known():
    names = applications.functions()
    assert len(names) >= 35
    assert {"ResNet50", "VGG16", "ConvNeXtTiny", "DenseNet121"} <= set(names)
