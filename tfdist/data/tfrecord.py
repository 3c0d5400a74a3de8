"""What do TFRecord files give whose features are described beside them?"""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence

from tfdist.data import features, parts
from tfdist.data.bad import BadExamples
from tfdist.data.features import Features
from tfdist.data.identity import of_files
from tfdist.data.lenient import lenient
from tfdist.data.parts import hold_out
from tfdist.data.reader import Reader
from tfdist.data.reading import Reading
from tfdist.data.records import Records
from tfdist.data.source import Source
from tfdist.errors import UsageError


def load(pattern: str, reading: Reading) -> Source:
    """Read tf.train.Example records, described by features.json in the folder of the first file.

    `pattern` is GLOB, or GLOB,VALIDATION_GLOB; without the second a part of all is held out.

    Raises:
        UsageError: no file matches, one is damaged, or the description does not fit.
    """
    patterns = pattern.split(",")
    if len(patterns) > 2:
        raise UsageError(
            f"tfrecord:{pattern} has {len(patterns)} patterns: give one for training and at most "
            "one for validation"
        )
    paths = [_matches(each) for each in patterns]
    described = features.beside(paths[0][0], reading)
    bad = BadExamples(reading.max_bad_examples)
    readers = [_reader(each, described, bad) for each in paths]
    train, validation = (
        readers if len(readers) == 2 else hold_out(readers[0], reading.validation_fraction)
    )
    return parts.source(
        f"tfrecord:{pattern}",
        train,
        validation,
        reading,
        num_classes=described.num_classes,
        bad=bad,
    )


def _matches(pattern: str) -> list[str]:
    paths = sorted(glob.glob(os.path.expanduser(pattern), recursive=True))
    paths = [path for path in paths if os.path.isfile(path)]
    if not paths:
        raise UsageError(
            f"no file on this machine matches {pattern!r}: correct the pattern, and put it in "
            "quotes so that the shell leaves it as it is"
        )
    return paths


def _reader(paths: Sequence[str], described: Features, bad: BadExamples) -> Reader:
    import tensorflow as tf

    records = Records(paths)
    return Reader(
        examples=len(records),
        read=lenient(records.fetch, described.parse, records.where, bad, described.parse_all),
        may_lose=bad.most,
        plain=lambda: (tf.data.TFRecordDataset(list(paths)), described.parse),
        identity=lambda: f"{described.text} {of_files(paths)}",
    )
