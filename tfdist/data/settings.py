"""What `python -m tfdist.data` is told: its flags, checked before TensorFlow is loaded."""

from dataclasses import dataclass, field
from typing import Any

from tfdist.data.augment import Augment
from tfdist.data.order import Order
from tfdist.data.reading import Reading, parse_size
from tfdist.errors import UsageError

_DONE, _READ, _CHANGED, _BY = "What is done", "What is read", "How images are changed", "By whom"


def _flag(default: Any, group: str, value: str, meaning: str) -> Any:
    return field(default=default, metadata={"group": group, "value": value, "help": meaning})


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything the command is told; each field is a flag.

    Raises:
        UsageError: a value is wrong, or two do not go together.
    """

    audit: bool = _flag(False, _DONE, "", "whether each example is read exactly once, by whom")
    bench: bool = _flag(False, _DONE, "", "how fast examples are read, and what the limit is")
    dataset: str = _flag(
        "digits",
        _READ,
        "NAME",
        "digits, any name of TensorFlow Datasets, folder:PATH, tfrecord:GLOB, npz:FILE, "
        "npy:FOLDER, or module:function",
    )
    data_dir: str | None = _flag(
        None, _READ, "FOLDER", "where prepared datasets are [that of TensorFlow Datasets]"
    )
    image_size: str = _flag(
        "224", _READ, "PIXELS", "to which images of no declared size are resized, as 224 or 224x160"
    )
    channels: int = _flag(3, _READ, "N", "of images in folder: and tfrecord:, 3 colour, 1 grey")
    validation_fraction: float = _flag(
        0.2, _READ, "PART", "held out where files have no validation part of their own"
    )
    max_bad_examples: int = _flag(0, _READ, "N", "left out because they cannot be read")
    cache: str = _flag(
        "auto",
        _READ,
        "WHERE",
        "where examples are kept once they were read: none, memory, a folder on a local disk; "
        "auto: memory when they take less than 256 MiB",
    )
    global_batch_size: int = _flag(64, _READ, "N", "examples in a batch over all replicas")
    seed: int = _flag(0, _READ, "N", "of the order")
    drop_remainder: bool = _flag(False, _READ, "", "leave out a last batch that is not full")
    flip: bool = _flag(False, _CHANGED, "", "mirror a half of them, left to right")
    crop: float = _flag(1.0, _CHANGED, "PART", "least part of each side that a window keeps")
    workers: int | None = _flag(
        None, _BY, "N", "simulated in this process [1, or the tasks of the cluster]"
    )
    replicas_per_worker: int = _flag(1, _BY, "N", "among which each worker divides its part")
    model: str | None = _flag(
        None, _BY, "NAME", "whose appetite is measured beside the pipeline [none]"
    )
    seconds: float = _flag(2.0, _BY, "S", "for each measurement of --bench")

    def __post_init__(self) -> None:
        if self.audit == self.bench:
            given = "both --audit and --bench were" if self.audit else "nothing to do was"
            raise UsageError(f"{given} given: give one of --audit and --bench")
        for name in ("workers", "replicas_per_worker"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UsageError(
                    f"--{name} is {value}, but must be 1 or more: give a larger number"
                )
        if not self.seconds > 0:
            raise UsageError(
                f"--seconds is {self.seconds}, but must be above 0: give one such as 2"
            )
        self.reading()
        self.order()
        self.augment()

    def reading(self) -> Reading:
        """How files are turned into examples."""
        return Reading(
            image_size=parse_size(self.image_size),
            channels=self.channels,
            validation_fraction=self.validation_fraction,
            max_bad_examples=self.max_bad_examples,
            cache=self.cache,
        )

    def order(self, **others: Any) -> Order:
        """In which order they are read."""
        return Order(
            global_batch_size=self.global_batch_size,
            seed=self.seed,
            drop_remainder=self.drop_remainder,
            **others,
        )

    def augment(self) -> Augment | None:
        """How images are changed; None when they are not."""
        changed = self.flip or self.crop != 1
        return Augment(flip=self.flip, crop=self.crop, seed=self.seed) if changed else None
