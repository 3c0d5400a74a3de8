"""Which dataset does a name stand for?"""

from __future__ import annotations

import os
from importlib import import_module

from tfdist import names
from tfdist.data.reading import Reading
from tfdist.data.source import Source, described

# One module each, with a function load(what follows the colon, reading).
KINDS = ("folder", "tfrecord", "npz", "npy")


def load(name: str, data_dir: str | None = None, reading: Reading | None = None) -> Source:
    """Load a dataset by its name; what is not on the machine is fetched and prepared first.

    Args:
        name: "digits", shipped with tfdist; any name of TensorFlow Datasets, such as "mnist" or
            "emnist/letters"; "folder:PATH", "tfrecord:GLOB", "npz:FILE" or "npy:FOLDER", files on
            this machine; or "module:function", a function of your own.
        data_dir: folder of prepared datasets, that of TensorFlow Datasets by default.
        reading: how files are turned into examples.

    Raises:
        UsageError: the name is unknown, the dataset cannot be read, fetched or written, or its
            examples are not numbers.
        StartAgainError: another process prepares the dataset and does not end.
    """
    reading = reading or Reading()
    source = described(_load(name, data_dir, reading))
    if source.train_reader is None:
        from tfdist.data.cache import cached_stream

        return cached_stream(source, reading.cache)
    return source


def is_of_files(name: str) -> bool:
    """Whether a name stands for files, such as "folder:PATH", and for no function of the user's."""
    kind, _, what = name.partition(":")
    return kind in KINDS and bool(what)


def _load(name: str, data_dir: str | None, reading: Reading) -> Source:
    kind, _, what = name.partition(":")
    if is_of_files(name):
        return import_module(f"tfdist.data.{kind}").load(what, reading)
    if data_dir is not None:
        data_dir = os.path.expanduser(data_dir)  # A shell leaves --data_dir=~/data as it is.
    if names.is_function(name):
        from tfdist.data import own

        return own.load(name, data_dir)
    from tfdist.data import catalogue, examples, prepare

    builder = catalogue.find(name, data_dir)
    prepare.ensure(builder, name)
    return examples.source(builder, name, reading)
