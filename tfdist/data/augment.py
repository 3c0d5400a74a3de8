"""How are images changed on their way to the model, so that it does not learn them by heart?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import Any

from tfdist.errors import UsageError

_INSIDE = (
    1 - 1e-6
)  # A window up to 1 may end beyond the image by rounding, where it would be black.


@dataclass(frozen=True, kw_only=True)
class Augment:
    """Changes the images of a batch.

    Random choices follow from `seed` and from the place of the batch in the run: they are the same
    in every task, in a run that is repeated and in one that is resumed.

    Attributes:
        flip: mirror a half of the images, left to right.
        crop: the least part of each side that a random window keeps, of the same aspect ratio as
            the image; the window is resized to the image's size, or to `size`. 1 keeps the image.
        size: height and width, in pixels, to which images are resized; None leaves them.
        seed: of the random choices.

    Raises:
        UsageError: a value is out of range.
    """

    flip: bool = False
    crop: float = 1.0
    size: tuple[int, int] | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.crop <= 1:
            raise UsageError(
                f"--crop is {self.crop}: give the least part of each side that is kept, above 0 "
                "and at most 1, such as 0.8"
            )
        if self.size is not None and min(self.size) < 1:
            raise UsageError(f"images are to be resized to {self.size}: give 1 pixel or more")

    def for_validation(self) -> Augment:
        """Return the same without random choices."""
        return replace(self, flip=False, crop=1.0)

    def input_shape(self, shape: Any) -> Any:
        """Return the shape of an example after the change, from the shape before it.

        Raises:
            UsageError: the examples are not images of one size.
        """
        if not self.flip and self.crop == 1 and self.size is None:
            return shape
        known = isinstance(shape, tuple) and len(shape) == 3 and None not in shape
        if not known:
            raise UsageError(
                f"images can be flipped, cropped and resized, but an example has the shape {shape}:"
                " give images of one size, (height, width, channels), or leave that out"
            )
        return (*self.size, shape[2]) if self.size else shape

    def __call__(self, batch: Any, place: tuple[Any, Any], rows: Any = None) -> Any:
        """Change a batch (x, ...), in a graph.

        Args:
            batch: x is float32 of shape (examples, height, width, channels).
            place: the pass and the step, int64.
            rows: the first of these examples in the global batch, where they are a part of it.
        """
        import tensorflow as tf

        x, *rest = batch
        seed = tf.constant([self.seed, 0], tf.int64)
        for part in place:
            seed = tf.random.experimental.stateless_fold_in(seed, part)
        first = 0 if rows is None else tf.cast(rows, tf.int32)
        draws = tf.random.stateless_uniform([first + tf.shape(x)[0], 4], seed)[first:]
        x = self._cropped(x, draws) if self.crop < 1 else self._resized(x)
        if self.flip:
            mirrored = draws[:, 3] < 0.5
            x = tf.where(mirrored[:, None, None, None], tf.reverse(x, [2]), x)
        return (x, *rest)

    def _cropped(self, x: Any, draws: Any) -> Any:
        import tensorflow as tf

        part = self.crop + draws[:, :1] * (1 - self.crop)
        start = draws[:, 1:3] * (1 - part)
        boxes = tf.concat([start, start + part], 1) * _INSIDE
        return tf.image.crop_and_resize(
            x, boxes, tf.range(tf.shape(x)[0]), self.size or tuple(x.shape[1:3])
        )

    def _resized(self, x: Any) -> Any:
        import tensorflow as tf

        if self.size in (None, tuple(x.shape[1:3])):
            return x
        shrinks = prod(self.size or ()) < prod(x.shape[1:3])
        return tf.image.resize(x, self.size, antialias=shrinks)
