"""What are the digits? A TensorFlow Datasets builder over the file beside this one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow_datasets as tfds

_FILE = Path(__file__).with_name("digits.npz")
_PIXEL_MAX = 16  # A pixel counts the ink dots in a square of 4x4.
_TEST_EVERY = 5

_DESCRIPTION = """\
1,797 handwritten digits of 8x8 pixels: the test set of "Optical Recognition of Handwritten Digits"
of the UCI Machine Learning Repository. Test is every fifth image, beginning with the first: 360
images, the other 1,437 are for training."""

_CITATION = """\
@misc{alpaydin1998optical,
  author = {Alpaydin, E. and Kaynak, C.},
  title  = {{Optical Recognition of Handwritten Digits}},
  year   = {1998},
  howpublished = {UCI Machine Learning Repository},
  doi    = {10.24432/C50P49}
}"""


class Digits(tfds.core.GeneratorBasedBuilder):
    """The UCI handwritten digits: x (8, 8, 1) float32 in [0, 1], y the digit."""

    VERSION = tfds.core.Version("1.0.0")

    def _info(self) -> tfds.core.DatasetInfo:
        return tfds.core.DatasetInfo(
            builder=self,
            description=_DESCRIPTION,
            features=tfds.features.FeaturesDict(
                {
                    "image": tfds.features.Tensor(shape=(8, 8, 1), dtype=np.float32),
                    "label": tfds.features.ClassLabel(num_classes=10),
                }
            ),
            supervised_keys=("image", "label"),
            homepage="https://doi.org/10.24432/C50P49",
            citation=_CITATION,
            license="CC BY 4.0, https://creativecommons.org/licenses/by/4.0/",
        )

    def _split_generators(self, dl_manager: Any) -> dict[str, Iterator[Any]]:
        return {"train": self._generate_examples(False), "test": self._generate_examples(True)}

    def _generate_examples(self, is_test: bool) -> Iterator[tuple[int, dict[str, Any]]]:
        with np.load(_FILE) as file:
            images, labels = file["images"], file["labels"]
        for index, (image, label) in enumerate(zip(images, labels, strict=True)):
            if (index % _TEST_EVERY == 0) == is_test:
                pixels = (image / np.float32(_PIXEL_MAX))[..., np.newaxis]
                yield index, {"image": pixels.astype(np.float32), "label": int(label)}
