"""Which dataset is read, and how: the flags that training, verification, audit and bench share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tfdist.data.augment import Augment
from tfdist.data.loading import KINDS
from tfdist.data.order import Order
from tfdist.data.reading import Reading, parse_size
from tfdist.errors import UsageError

_READ, _CHANGED = "What is read", "How images are changed"


def flag(default: Any, group: str, value: str, meaning: str) -> Any:
    """Return the field of a settings dataclass that is a flag.

    Args:
        default: its value when it is not given.
        group: the heading under which --help shows it.
        value: what stands for its value in --help; "" for a switch.
        meaning: what --help says.
    """
    return field(default=default, metadata={"group": group, "value": value, "help": meaning})


@dataclass(frozen=True, kw_only=True)
class DataFlags:
    """What all commands that read a dataset are told of it; each field is a flag.

    Raises:
        UsageError: a value is wrong.
    """

    dataset: str = flag(
        "digits",
        _READ,
        "NAME",
        "digits, any name of TensorFlow Datasets, folder:PATH, tfrecord:GLOB, npz:FILE, "
        "npy:FOLDER, or module:function",
    )
    data_dir: str | None = flag(
        None, _READ, "FOLDER", "where prepared datasets are [that of TensorFlow Datasets]"
    )
    image_size: str = flag(
        "224", _READ, "PIXELS", "to which images of no declared size are resized, as 224 or 224x160"
    )
    channels: int = flag(3, _READ, "N", "of images in folder: and tfrecord:, 3 colour, 1 grey")
    validation_fraction: float = flag(
        0.2, _READ, "PART", "held out where files have no validation part of their own"
    )
    max_bad_examples: int = flag(0, _READ, "N", "left out because they cannot be read")
    cache: str = flag(
        "auto",
        _READ,
        "WHERE",
        "where examples are kept once they were read: none, memory, a folder on a local disk; "
        "auto: memory when they take less than 256 MiB",
    )
    shuffle: bool = flag(
        True, _READ, "", "in a new order in each epoch; --noshuffle: in their own order"
    )
    drop_remainder: bool = flag(False, _READ, "", "leave out a last batch that is not full")
    data_service: str | None = flag(
        None,
        _READ,
        "HOST:PORT",
        "machines that prepare the images of folder: for training, see tfdist.data.service",
    )
    flip: bool = flag(False, _CHANGED, "", "mirror a half of them, left to right")
    crop: float = flag(1.0, _CHANGED, "PART", "least part of each side that a window keeps")
    resize: str | None = flag(
        None, _CHANGED, "PIXELS", "to what the model takes, as 96 or 96x128 [their size]"
    )

    def __post_init__(self) -> None:
        check_dataset(self.dataset)
        self.reading()
        self.augment(0)

    def reading(self) -> Reading:
        """How files are turned into examples."""
        return Reading(
            image_size=parse_size(self.image_size),
            channels=self.channels,
            validation_fraction=self.validation_fraction,
            max_bad_examples=self.max_bad_examples,
            cache=self.cache,
        )

    def in_order(self, global_batch_size: int, seed: int, **others: Any) -> Order:
        """In which order examples are read."""
        return Order(
            global_batch_size=global_batch_size,
            seed=seed,
            shuffle=self.shuffle,
            drop_remainder=self.drop_remainder,
            **others,
        )

    def augment(self, seed: int) -> Augment | None:
        """How images are changed; None when they are not."""
        if not self.flip and self.crop == 1 and self.resize is None:
            return None
        size = None if self.resize is None else parse_size(self.resize, "--resize")
        return Augment(flip=self.flip, crop=self.crop, size=size, seed=seed)


def check_dataset(name: str) -> None:
    """Refuse what is no name of a dataset; of files, any path is one, with spaces too.

    Raises:
        UsageError: it is none.
    """
    kind, _, what = name.partition(":")
    if kind in KINDS and not what.strip():
        raise UsageError(f"--dataset is {name!r}: give what it is to read too, as {kind}:/data")
    if kind not in KINDS and (not name or any(character.isspace() for character in name)):
        raise UsageError(
            f"--dataset is {name!r}: give digits, a name of TensorFlow Datasets, "
            f"{', '.join(f'{each}:...' for each in KINDS)}, or module:function"
        )
