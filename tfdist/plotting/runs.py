"""What a run left behind: its curves and its record, from its output or TensorBoard's folder."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tfdist.errors import UsageError
from tfdist.progress.needs import need
from tfdist.run.loading import load_tensorflow

_TAGS = {"epoch/": "", "validation/": "val_"}


@dataclass
class Run:
    """One run.

    Attributes:
        name: For the legend.
        curves: Step and value of each epoch's end, by the name of the metric; val_ for validation.
        record: The run record; empty when the run left none.
    """

    name: str
    curves: dict[str, list[tuple[int, float]]] = field(default_factory=dict)
    record: dict[str, Any] = field(default_factory=dict)


def read(path: str) -> Run:
    """Read the output of a run from a file, or the folder of its `--log_dir`.

    Raises:
        UsageError: there is nothing of a run there.
    """
    place = Path(path)
    if not place.exists():
        raise UsageError(
            f"{path!r} is not there: give a file with the output of a run, or its --log_dir"
        )
    run = _from_folder(place) if place.is_dir() else _from_output(place)
    if not run.curves and not run.record:
        raise UsageError(
            f"{path!r} holds no run: give the --log_dir of a run, or a file with its standard "
            "output (with --log_format=json for curves)"
        )
    return run


def _from_output(file: Path) -> Run:
    run = Run(file.stem)
    for line in _objects(file):
        if line.get("event") == "epoch":
            for name, value in line.items():
                if name in _about_the_moment or not isinstance(value, (int, float)):
                    continue
                run.curves.setdefault(name, []).append((line["step"], value))
        elif "weights_digest" in line:
            run.record = line
    return run


_about_the_moment = {
    *("event", "step", "epoch", "epochs", "step_in_epoch", "steps_per_epoch"),
    *("steps_per_second", "examples_per_second", "input_share"),
}


def _objects(file: Path) -> Iterator[dict[str, Any]]:
    for line in file.read_text(errors="replace").splitlines():
        _, brace, rest = line.partition("{")  # behind the task's name, if the launcher kept it
        try:
            found = json.loads(brace + rest)
        except ValueError:
            continue
        if isinstance(found, dict):
            yield found


def _from_folder(folder: Path) -> Run:
    need("tensorboard", extra="tensorboard", purpose="reading a log_dir")
    load_tensorflow()  # which TensorBoard would do less quietly
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.util.tensor_util import make_ndarray

    run = Run(folder.name)
    for of_task in sorted({file.parent for file in folder.rglob("events.out.tfevents.*")})[:1]:
        found = EventAccumulator(str(of_task), size_guidance={"tensors": 0}).Reload()
        for tag in found.Tags()["tensors"]:
            for prefix, ours in _TAGS.items():
                if tag.startswith(prefix):
                    run.curves[ours + tag.removeprefix(prefix)] = [
                        (event.step, float(make_ndarray(event.tensor_proto)))
                        for event in found.Tensors(tag)
                    ]
    return run
