"""Measure PyTorch, with DistributedDataParallel over gloo under torchrun; prints JSON."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable

import torch
from torch import nn
from work import BATCHES, CLASSES, LEARNING_RATE, images, peak_mb, warm_up


def main() -> None:
    """Train for a while, then time some steps."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("steps", type=int)
    parser.add_argument("batch", type=int, help="examples in a global batch")
    given = parser.parse_args()
    torch.set_num_threads(1)
    tasks = int(os.environ.get("WORLD_SIZE", "1"))
    if tasks > 1:
        torch.distributed.init_process_group("gloo")
    train = trainer(_model(given.model), tasks, given.batch // tasks)
    train(warm_up(given.steps))
    if tasks > 1:
        torch.distributed.barrier()
    begin = time.perf_counter()
    train(given.steps)
    ms = (time.perf_counter() - begin) / given.steps * 1e3
    if not int(os.environ.get("RANK", "0")):
        print(json.dumps({"ms_per_step": ms, "mb": peak_mb()}))  # noqa: T201


def trainer(model: nn.Module, tasks: int, rows: int) -> Callable[[int], float]:
    """Return what trains for a number of steps, on so many examples each."""
    net = nn.parallel.DistributedDataParallel(model) if tasks > 1 else model
    optimizer = torch.optim.SGD(model.parameters(), LEARNING_RATE)
    loss_of = nn.CrossEntropyLoss()
    x, y = images(rows * BATCHES)
    inputs, classes = torch.from_numpy(x).permute(0, 3, 1, 2).contiguous(), torch.from_numpy(y)

    def train(steps: int) -> float:
        for step in range(steps):
            start = step % BATCHES * rows
            optimizer.zero_grad()
            loss = loss_of(net(inputs[start : start + rows]), classes[start : start + rows])
            loss.backward()
            optimizer.step()
        return loss.item()

    return train


def _model(name: str) -> nn.Module:
    if name == "mlp":
        return nn.Sequential(nn.Flatten(), nn.Linear(784, 32), nn.ReLU(), nn.Linear(32, CLASSES))
    if name == "wide":
        return nn.Sequential(
            *(nn.Flatten(), nn.Linear(784, 2048), nn.ReLU()),
            *(nn.Linear(2048, 4096), nn.ReLU(), nn.Linear(4096, CLASSES)),
        )
    return nn.Sequential(
        *(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Linear(1600, 128), nn.ReLU(), nn.Linear(128, CLASSES)),
    )


if __name__ == "__main__":
    main()
