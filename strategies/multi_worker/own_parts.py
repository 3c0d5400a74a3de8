"""One CNN on images in four unequal parts, each of which only one worker has.

Every worker runs this script; --folder holds part-0, part-1, ... with a folder of images for each
class. A worker whose part is missing makes one of random images first, larger for a higher number.
"""

import argparse
import os
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

import tfdist
from tfdist.data import Reading, load
from tfdist.data.batches import batches, validation_batches
from tfdist.data.order import Order
from tfdist.factory import current
from tfdist.models import build

CLASSES = ("dark", "grey", "light")


def make_part(folder: Path, worker: int, images: int, size: int) -> None:
    """Write a part of random images whose brightness is their class; ready as a whole or not."""
    draw = np.random.default_rng(worker)
    unfinished = folder.with_name(f".{folder.name}.{os.getpid()}")
    for number in range(images * (worker + 1)):
        kind = number % len(CLASSES)
        pixels = draw.normal(60 + 70 * kind, 30, (size, size, 3)).clip(0, 255)
        file = unfinished / CLASSES[kind] / f"{number}.jpg"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(tf.io.encode_jpeg(pixels.astype(np.uint8)).numpy())
    unfinished.rename(folder)


def main() -> None:
    """Train, and let the chief print what came out."""
    told = argparse.ArgumentParser(description=__doc__)
    told.add_argument("--folder", type=Path, required=True, help="where the parts are")
    told.add_argument("--size", type=int, default=224, help="height and width of images, in pixels")
    told.add_argument("--images", type=int, default=300, help="in the smallest part, if it is made")
    told.add_argument("--rows", type=int, default=16, help="images of each worker in a step")
    told.add_argument("--epochs", type=int, default=3)
    told.add_argument("--sync_period", type=int, help="train apart for so many steps, then average")
    args = told.parse_args()

    strategy = tfdist.strategy("multi_worker", seed=0)
    part = args.folder / f"part-{current().cluster.rank}"
    if not part.exists():
        make_part(part, current().cluster.rank, args.images, args.size)
    reading = Reading(image_size=(args.size, args.size), validation_fraction=0.1)
    images = load(f"folder:{part}", reading=reading)

    def of_epoch(context):
        by = Order(global_batch_size=args.rows, seed=context.seed, start_epoch=context.epoch)
        return batches(images, by)

    def held_out(context):
        return validation_batches(images, args.rows)

    apart = {} if args.sync_period is None else {"sync_period": args.sync_period}
    with strategy.scope():
        model = tfdist.distribute(build("cnn", images.input_shape, len(CLASSES), seed=0), **apart)
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(keras.optimizers.Adam(1e-3), loss, metrics=["accuracy"])
    model.fit(
        tfdist.per_worker(of_epoch),
        validation_data=tfdist.per_worker(held_out),
        epochs=args.epochs,
    )


if __name__ == "__main__":
    main()
