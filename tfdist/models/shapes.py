"""Does the data have a shape that the model can take?"""

from typing import Any

from tfdist.errors import UsageError


def refuse_unknown_size(model: str, input_shape: Any) -> None:
    """Raise UsageError unless `input_shape` is a tuple of known numbers."""
    if not isinstance(input_shape, (tuple, list)) or not all(
        isinstance(size, int) for size in input_shape
    ):
        raise UsageError(
            f"model {model!r} takes one array of fixed size, but an example has the shape "
            f"{input_shape}: resize the images, or choose an array, in a function of your own "
            "with --dataset=module:function"
        )


def refuse_other_than_image(model: str, input_shape: Any) -> None:
    """Raise UsageError unless `input_shape` is (height, width, channels)."""
    if isinstance(input_shape, (tuple, list)) and len(input_shape) != 3:
        raise UsageError(
            f"model {model!r} takes images (height, width, channels), but an example has the shape "
            f"{tuple(input_shape)}: give single images, not batches, with a last axis of channels"
        )
    refuse_unknown_size(model, input_shape)
