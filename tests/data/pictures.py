"""Small image files, written without any library for images but TensorFlow's."""

import struct
from pathlib import Path

import numpy as np

# One white pixel.
GIF = bytes.fromhex(
    "47494638396101000100800000ffffff00000021f90400000000002c00000000010001000002024401003b"
)


def pixels(seed: int, height: int = 4, width: int = 5) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def png(image: np.ndarray) -> bytes:
    import tensorflow as tf

    return tf.io.encode_png(image).numpy()


def jpeg(image: np.ndarray) -> bytes:
    import tensorflow as tf

    return tf.io.encode_jpeg(image, quality=95).numpy()


def bmp(image: np.ndarray) -> bytes:
    height, width, _ = image.shape
    row_bytes = -(-3 * width // 4) * 4
    rows = [row[:, ::-1].tobytes().ljust(row_bytes, b"\0") for row in image[::-1]]
    head = struct.pack("<2sIII", b"BM", 54 + row_bytes * height, 0, 54)
    head += struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, 0, 0, 0, 0, 0)
    return head + b"".join(rows)


def write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def write_classes(root: Path, **counts: int) -> dict[str, np.ndarray]:
    """Write so many PNG images for each class; what they show, by class/file."""
    shown = {}
    for label, (name, count) in enumerate(counts.items()):
        for index in range(count):
            image = pixels(1000 * label + index)
            shown[f"{name}/{index:03}.png"] = image
            write(root / name / f"{index:03}.png", png(image))
    return shown
