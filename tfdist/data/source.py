"""What is one dataset, ready to be batched?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import tensorflow as tf

    from tfdist.data.bad import BadExamples
    from tfdist.data.reader import Reader


@dataclass(frozen=True)
class Source:
    """A dataset of single examples (x, y), neither batched nor shuffled, the same in every task."""

    name: str
    train: tf.data.Dataset
    validation: tf.data.Dataset | None = None
    train_examples: int | None = None  # None when the dataset does not know its own length.
    validation_examples: int | None = None
    input_shape: Any = None  # Shape of one x, a tuple; for a structure, the structure of shapes.
    num_classes: int | None = None  # None when y is not a class.
    licence: str = ""
    origin: str = ""  # Where the data comes from: a homepage or a citation.
    class_names: tuple[str, ...] = ()  # By the number of the class, where they are known.
    train_reader: Reader | None = None  # The same examples by their numbers, where they have some.
    validation_reader: Reader | None = None
    bad: BadExamples | None = None  # What was left out because it could not be read.


def described(source: Source) -> Source:
    """Return `source` with its lengths and its input shape, where the datasets tell them."""
    lengths = (source.train_examples, source.validation_examples)
    train, validation = lengths
    return replace(
        source,
        train_examples=_length(source.train) if train is None else train,
        validation_examples=_length(source.validation) if validation is None else validation,
        input_shape=_input_shape(source.train)
        if source.input_shape is None
        else source.input_shape,
    )


def _length(dataset: tf.data.Dataset | None) -> int | None:
    if dataset is None:
        return None
    length = int(dataset.cardinality())
    return length if length >= 0 else None  # Negative: infinite, or unknown.


def _input_shape(dataset: tf.data.Dataset) -> Any:
    import tensorflow as tf

    spec = dataset.element_spec
    x = spec[0] if isinstance(spec, tuple) else spec
    return tf.nest.map_structure(lambda leaf: tuple(leaf.shape), x)
