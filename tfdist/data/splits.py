"""How are the files read that TensorFlow Datasets has prepared?"""

from __future__ import annotations

from typing import Any

from tfdist.data.bad import BadExamples
from tfdist.data.identity import of_files
from tfdist.data.images import resized
from tfdist.data.lenient import lenient
from tfdist.data.pixels import scale, scaled
from tfdist.data.reader import Reader
from tfdist.data.reading import Reading
from tfdist.data.records import Records
from tfdist.errors import UsageError

# Larger splits need not fit in memory, and are read in the order of their files, which is faster.
_BY_NUMBER_BYTES = 2**33


class Splits:
    """The splits of one dataset, in examples (x, y) or, where nothing says what they are, dicts.

    Args:
        builder: a prepared `tfds.core.DatasetBuilder`.
        reading: how images of no declared size are resized.
        bad: counts the records that are left out.

    Raises:
        UsageError: the examples hold text.
    """

    def __init__(self, builder: Any, reading: Reading, bad: BadExamples) -> None:
        import tensorflow as tf
        import tensorflow_datasets as tfds

        self._builder = builder
        self._info = builder.info
        self._reading = reading
        self._bad = bad
        self._has_images = isinstance(self._feature(0), tfds.features.Image)
        record = tf.data.Dataset.from_tensors(b"")
        self._spec = tf.nest.flatten(record.map(self._parse).element_spec)
        if any(getattr(leaf, "dtype", None) == tf.string for leaf in self._spec):
            raise UsageError(
                f"{builder.name!r} gives text, and a model is fed with numbers: turn it into "
                "numbers in a function of your own, --dataset=module:function"
            )

    @property
    def num_classes(self) -> int | None:
        """The number of classes, None when y is no class."""
        import tensorflow_datasets as tfds

        label = self._feature(1)
        return label.num_classes if isinstance(label, tfds.features.ClassLabel) else None

    def is_by_number(self, split: str) -> bool:
        """Whether the examples of a split can be read by their numbers."""
        import tensorflow as tf

        return (
            "://" not in str(self._builder.data_dir)
            and self._info.file_format.value == "tfrecord"
            and self._info.splits[split].num_bytes <= _BY_NUMBER_BYTES
            and all(isinstance(leaf, tf.TensorSpec) for leaf in self._spec)
            and all(leaf.shape.is_fully_defined() for leaf in self._spec)
        )

    def reader(self, split: str) -> Reader:
        """Read a split by the numbers of its examples."""
        import tensorflow as tf

        paths = [str(path) for path in self._info.splits[split].filepaths]
        records = Records(paths)
        return Reader(
            examples=len(records),
            read=lenient(records.fetch, self._parse, records.where, self._bad),
            finish=self._finish,
            may_lose=self._bad.most,
            plain=lambda: (tf.data.TFRecordDataset(paths), self._parse),
            identity=lambda: f"{self._reading.image_size} {of_files(paths)}",
        )

    def stream(self, split: str) -> Any:
        """Read a split in its own order, as a tf.data dataset."""
        supervised = self._info.supervised_keys is not None
        dataset = self._builder.as_dataset(split=split, as_supervised=supervised)
        if not self._has_images:
            return dataset
        return scaled(dataset.map(lambda *example: self._sized(example)))

    def _feature(self, position: int) -> Any:
        """The feature that is x (0) or y (1), None when it is not a single one."""
        keys = self._info.supervised_keys
        known = keys is not None and isinstance(keys[position], str)
        return self._info.features[keys[position]] if known else None

    def _parse(self, record: Any) -> Any:
        import tensorflow as tf

        example = self._info.features.deserialize_example(record)
        keys = self._info.supervised_keys
        if keys is None:
            return example
        return self._sized(tf.nest.map_structure(lambda key: example[key], keys))

    def _sized(self, example: Any) -> Any:
        if not self._has_images or None not in self._feature(0).shape[:2]:
            return example
        image, *rest = example
        return (resized(image, self._reading.image_size), *rest)

    def _finish(self, batch: Any) -> Any:
        return scale(*batch) if self._has_images else batch
