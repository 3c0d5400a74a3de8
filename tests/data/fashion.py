"""Seeds the download cache of TensorFlow Datasets with Debian's dataset-fashion-mnist."""

import gzip
import hashlib
import json
import shutil
from pathlib import Path

import tensorflow_datasets as tfds
from tensorflow_datasets.core.download import resource

PACKAGE = "dataset-fashion-mnist"
FOLDER = Path("/usr/share/datasets/fashion-mnist")

# Of the files inside: Debian's compression differs from that of the original site.
_SHA256 = {
    f"{part}-idx{axes}-ubyte.gz": digest
    for part, axes, digest in (
        ("t10k-images", 3, "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"),
        ("t10k-labels", 1, "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"),
        ("train-images", 3, "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888"),
        ("train-labels", 1, "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9"),
    )
}


def is_installed() -> bool:
    return all((FOLDER / name).exists() for name in _SHA256)


def seed(data_dir: Path) -> None:
    """Let `fashion_mnist` be prepared in `data_dir` without a network."""
    builder = tfds.builder("fashion_mnist", data_dir=data_dir)
    for url, info in builder.url_infos.items():
        original = FOLDER / info.filename
        digest = hashlib.sha256(gzip.decompress(original.read_bytes())).hexdigest()
        assert digest == _SHA256[info.filename], f"{original} is not what it should be"
        cached = data_dir / "downloads" / builder.name / resource.get_dl_fname(url, info.checksum)
        cached.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(original, cached)
        note = {"urls": [url], "original_fname": info.filename, "dataset_names": [builder.name]}
        cached.with_name(cached.name + ".INFO").write_text(json.dumps(note))
