"""Which dataset does a name stand for?"""

from __future__ import annotations

import os

from tfdist import names
from tfdist.data.source import Source, described


def load(name: str, data_dir: str | None = None) -> Source:
    """Load a dataset by its name; what is not on the machine is fetched and prepared first.

    Args:
        name: "digits", shipped with tfdist; any name of TensorFlow Datasets, such as "mnist" or
            "emnist/letters"; or "module:function", a function of your own.
        data_dir: folder of prepared datasets, that of TensorFlow Datasets by default.

    Raises:
        UsageError: the name is unknown, the dataset cannot be fetched or written, or its examples
            are not numbers.
        StartAgainError: another process prepares the dataset and does not end.
    """
    if data_dir is not None:
        data_dir = os.path.expanduser(data_dir)  # A shell leaves --data_dir=~/data as it is.
    if names.is_function(name):
        from tfdist.data import own

        return described(own.load(name, data_dir))
    from tfdist.data import catalogue, examples, prepare

    builder = catalogue.find(name, data_dir)
    prepare.ensure(builder, name)
    return described(examples.source(builder, name))
