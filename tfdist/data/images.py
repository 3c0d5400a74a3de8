"""How does an encoded image become pixels of a fixed size?"""

from __future__ import annotations

from typing import Any

READABLE = {".jpg", ".jpeg", ".png", ".bmp", ".gif"}
_OTHERS = {".webp", ".tif", ".tiff", ".heic", ".avif", ".jp2"}
# Images of other kinds are not passed over in silence: those that cannot be decoded are named.
SUFFIXES = frozenset(READABLE | _OTHERS)
_JPEG_REDUCTIONS = (1, 2, 4, 8)  # What the JPEG decoder does in the frequency domain, for free.


def decoded(encoded: Any, size: tuple[int, int], channels: int) -> Any:
    """Return the pixels of a JPEG, PNG, BMP or GIF (its first frame), in a graph.

    Args:
        encoded: scalar of type string, the bytes of the file.
        size: height and width, in pixels.
        channels: 3 for colour, 1 for grey.

    Returns:
        uint8 of shape (height, width, channels).
    """
    import tensorflow as tf

    pixels = tf.cond(
        tf.io.is_jpeg(encoded),
        lambda: _jpeg(encoded, size),
        lambda: tf.io.decode_image(encoded, channels=3, expand_animations=False),
    )
    pixels.set_shape([None, None, 3])
    pixels = resized(pixels, size)
    return tf.image.rgb_to_grayscale(pixels) if channels == 1 else pixels


def resized(pixels: Any, size: tuple[int, int]) -> Any:
    """Return an image of uint8 in another size, in a graph, without regard to its aspect ratio.

    Bilinear; each pixel is made from all those that it covers.
    """
    import tensorflow as tf

    height, width = tf.shape(pixels)[0], tf.shape(pixels)[1]
    # Beyond a half, plain interpolation would skip pixels; before, averaging only costs time.
    skips = tf.logical_or(height > 2 * size[0], width > 2 * size[1])
    fits = tf.logical_and(tf.equal(height, size[0]), tf.equal(width, size[1]))
    branches = [
        lambda: pixels,
        lambda: _rounded(tf.image.resize(pixels, size)),
        lambda: _rounded(tf.image.resize(pixels, size, antialias=True)),
    ]
    chosen = tf.switch_case(tf.where(fits, 0, tf.where(skips, 2, 1)), branches)
    return tf.ensure_shape(chosen, [*size, pixels.shape[2]])


def _jpeg(encoded: Any, size: tuple[int, int]) -> Any:
    """Decode at the strongest reduction that still has `size` pixels."""
    import tensorflow as tf

    room = tf.reduce_min(tf.io.extract_jpeg_shape(encoded)[:2] // tf.constant(size))
    branches = [
        lambda ratio=ratio: tf.io.decode_jpeg(encoded, channels=3, ratio=ratio)
        for ratio in _JPEG_REDUCTIONS
    ]
    fits = tf.constant(_JPEG_REDUCTIONS[1:]) <= room
    return tf.switch_case(tf.reduce_sum(tf.cast(fits, tf.int32)), branches)


def _rounded(values: Any) -> Any:
    import tensorflow as tf

    return tf.saturate_cast(tf.round(values), tf.uint8)
