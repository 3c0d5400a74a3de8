import numpy as np
import pytest

from tests.data import pictures


def smooth(height: int, width: int) -> np.ndarray:
    """An image whose pixels can be compared after it was resized in different ways."""
    y, x = np.mgrid[0 : 1 : height * 1j, 0 : 1 : width * 1j]
    return (255 * np.stack([x, y, x * y], -1)).round().astype(np.uint8)


@pytest.mark.parametrize("encode", [pictures.png, pictures.jpeg])
@pytest.mark.parametrize("shape", [(16, 24), (20, 30), (33, 24), (16, 200), (130, 200), (5, 7)])
def test_any_size_becomes_the_one_that_is_asked_for(encode, shape):
    import tensorflow as tf

    from tfdist.data.images import decoded

    encoded = encode(smooth(*shape))
    found = decoded(encoded, (16, 24), 3).numpy()
    whole = tf.io.decode_image(encoded, channels=3)
    reference = tf.image.resize(whole, (16, 24), antialias=True).numpy()
    assert (found.shape, found.dtype) == ((16, 24, 3), np.uint8)
    assert np.abs(found - reference).mean() < 4
    assert np.abs(found - reference).max() < 24


def test_no_pixel_is_skipped_when_an_image_shrinks():
    from tfdist.data.images import decoded

    stripes = np.zeros((160, 160, 3), np.uint8)
    stripes[:, ::10] = 255  # Whoever takes only every tenth column sees white, or black.
    for encoded in (pictures.png(stripes), pictures.jpeg(stripes)):
        found = decoded(encoded, (16, 16), 3).numpy()
        assert abs(float(found.mean()) - 25.5) < 3
        assert found.max() < 60


def test_pixels_of_the_right_size_stay_as_they_are():
    from tfdist.data.images import decoded

    image = pictures.pixels(0, 16, 24)
    np.testing.assert_array_equal(decoded(pictures.png(image), (16, 24), 3).numpy(), image)
