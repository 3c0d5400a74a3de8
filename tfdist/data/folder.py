"""What does a folder with one subfolder of images for each class give?"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tfdist.data import parts
from tfdist.data.bad import BadExamples
from tfdist.data.identity import of_files
from tfdist.data.images import READABLE, SUFFIXES, decoded
from tfdist.data.lenient import lenient
from tfdist.data.parts import hold_out
from tfdist.data.reader import Reader
from tfdist.data.reading import Reading
from tfdist.data.source import Source
from tfdist.errors import UsageError

_LAYOUT = "PATH/class/image.jpg, or PATH/train/class/image.jpg and PATH/validation/class/image.jpg"
_VALIDATION = ("validation", "val", "test")  # The first that is there.

Files = tuple[list[str], list[int]]  # Path and class of each image.


def load(path: str, reading: Reading) -> Source:
    """Read images (JPEG, PNG, BMP, GIF) whose class is the name of their folder.

    Classes are numbered in the order of their sorted names. With PATH/train, the classes are its
    folders, and PATH/validation (or val, or test) is for validation; else a part of all images.

    Raises:
        UsageError: there is no such folder, it holds no images in class folders, or validation
            has a class that training has not.
    """
    root = Path(path).expanduser()
    train_root = root / "train" if (root / "train").is_dir() else root
    classes = _classes(train_root)
    bad = BadExamples(reading.max_bad_examples)
    train: Reader = _reader(_files(train_root, classes), reading, bad)
    validation: Reader | None = None
    validation_root = next((root / name for name in _VALIDATION if (root / name).is_dir()), None)
    if train_root == root:
        train, validation = hold_out(train, reading.validation_fraction)
    elif validation_root is not None:
        _refuse_new_classes(validation_root, classes)
        validation = _reader(_files(validation_root, classes), reading, bad)
    return parts.source(
        f"folder:{path}",
        train,
        validation,
        reading,
        num_classes=len(classes),
        class_names=tuple(classes),
        bad=bad,
    )


def _classes(root: Path) -> list[str]:
    if not root.is_dir():
        raise UsageError(f"{root} is no folder: give one with images, as {_LAYOUT}")
    with os.scandir(root) as entries:
        classes = sorted(
            each.name for each in entries if each.is_dir() and not each.name.startswith(".")
        )
    if not classes:
        raise UsageError(f"{root} has no folders, but one for each class is expected: {_LAYOUT}")
    return classes


def _refuse_new_classes(root: Path, classes: Sequence[str]) -> None:
    for name in _classes(root):
        if name not in classes:
            raise UsageError(
                f"{root / name} is a class without images for training, which has "
                f"{', '.join(classes[:5])}{', ...' if len(classes) > 5 else ''}: add some, or "
                "remove it"
            )


def _files(root: Path, classes: Sequence[str]) -> Files:
    found = [(path, number) for number, name in enumerate(classes) for path in _images(root / name)]
    if not found:
        raise UsageError(
            f"the folders of {root} hold no images ({', '.join(sorted(READABLE))}): {_LAYOUT}"
        )
    return [path for path, _ in found], [number for _, number in found]


def _images(folder: Path) -> Iterator[str]:
    """The images in a folder and its subfolders, in an order that is the same on every machine."""
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if os.path.splitext(name)[1].lower() in SUFFIXES and not name.startswith("."):
                yield os.path.join(parent, name)


def _reader(files: Files, reading: Reading, bad: BadExamples) -> Reader:
    import tensorflow as tf

    paths, labels = files
    with tf.device("CPU:0"):
        all_paths, all_labels = tf.constant(paths), tf.constant(labels, tf.int64)

    def fetch(numbers: Any) -> tuple[Any, Any]:
        return tf.gather(all_paths, numbers), tf.gather(all_labels, numbers)

    def parse(file: tuple[Any, Any]) -> tuple[Any, Any]:
        path, label = file
        return decoded(tf.io.read_file(path), reading.image_size, reading.channels), label

    return Reader(
        examples=len(paths),
        read=lenient(fetch, parse, paths.__getitem__, bad),
        may_lose=reading.max_bad_examples,
        in_graph=True,
        plain=lambda: (
            tf.data.Dataset.from_tensor_slices((all_paths, all_labels)),
            lambda *file: parse(file),
        ),
        identity=lambda: f"{reading.image_size} {reading.channels} {of_files(paths)}",
    )
