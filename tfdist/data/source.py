"""What is one dataset, ready to be batched, or divided into batches of each worker's own?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tfdist.cluster import resolve
from tfdist.data.per_worker import PerWorker
from tfdist.errors import UsageError

if TYPE_CHECKING:
    import tensorflow as tf

    from tfdist.data.bad import BadExamples
    from tfdist.data.reader import Reader


@dataclass(frozen=True)
class Source:
    """A dataset of single examples (x, y), neither batched nor shuffled, the same in every task.

    Or what `tfdist.per_worker` declares: batches, of which each worker has its own.
    """

    name: str
    train: Any  # A tf.data.Dataset, or PerWorker.
    validation: Any = None  # Likewise, or None.
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


def refuse_declared(source: Source, fault: str) -> None:
    """Refuse data of each worker's own where that has no meaning.

    Args:
        source: the data.
        fault: why not, and what to do, as "cannot ...: do ...".

    Raises:
        UsageError: the data is such.
    """
    if isinstance(source.train, PerWorker):
        raise UsageError(
            f"{source.name!r} gives each worker batches of its own (tfdist.per_worker), which "
            f"{fault}"
        )


def _length(dataset: tf.data.Dataset | PerWorker | None) -> int | None:
    if dataset is None or isinstance(dataset, PerWorker):
        return None
    length = int(dataset.cardinality())
    return length if length >= 0 else None  # Negative: infinite, or unknown.


def _input_shape(dataset: tf.data.Dataset | PerWorker) -> Any:
    import tensorflow as tf

    batched = isinstance(dataset, PerWorker)
    spec = (_here(dataset) if isinstance(dataset, PerWorker) else dataset).element_spec
    x = spec[0] if isinstance(spec, tuple) else spec
    return tf.nest.map_structure(lambda leaf: tuple(leaf.shape)[batched:], x)


def _here(data: PerWorker) -> tf.data.Dataset:
    """The data of this worker: another's files may not be on this machine."""
    cluster = resolve()
    workers = cluster.workers
    rank = workers.index(cluster.task) if cluster.task in workers else 0
    return data.dataset(rank, max(1, len(workers)), epoch=0)
