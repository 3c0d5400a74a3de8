"""What a training run is told: its flags, checked as soon as they are known, without TensorFlow."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

from tfdist import names
from tfdist.data.flags import DataFlags
from tfdist.data.flags import flag as _flag
from tfdist.errors import UsageError
from tfdist.factory import NAMES as STRATEGIES
from tfdist.factory.devices import parse as parse_devices
from tfdist.factory.seeds import check as check_seed
from tfdist.models import NAMES as MODELS
from tfdist.progress.needs import need
from tfdist.progress.steps import parse as parse_steps
from tfdist.run.optimizers import NAMES as OPTIMIZERS
from tfdist.run.speed import SpeedFlags

PRECISIONS = ("float32", "bfloat16", "mixed_float16", "mixed_bfloat16")
VERBOSITIES = ("auto", "0", "1", "2")
RESUMES = ("auto", "never")
LOG_FORMATS, LOG_TASKS = ("text", "json"), ("chief", "all")
ON_NAN = ("stop", "rollback", "ignore")
_WHAT, _WHERE, _HOW = "What is trained", "Where", "How"
_SEEN, _KEPT = "What is seen", "What is kept"
_OF_CHECKPOINTS = (
    "checkpoint_every_steps",
    "checkpoint_every_minutes",
    "checkpoint_every_epochs",
    "keep_best",
    "async_save",
)
# Folders may have other names on other hosts, and the screen is each task's own.
_OF_EACH = (
    *("data_dir", "cache", "checkpoint_dir", "export_dir", "log_dir", "verbose", "explain"),
    *("strategy", "devices", "seed", "transport", "compression"),  # compared as what they come to
)
_COUNTS = (
    *("global_batch_size", "batch_size_per_replica", "epochs", "steps_per_epoch"),
    *("checkpoint_every_steps", "checkpoint_every_epochs", "keep", "log_every"),
)


@dataclass(frozen=True, kw_only=True)
class Settings(DataFlags, SpeedFlags):
    """Everything a training run is told; each field is a flag of `python -m tfdist.train`.

    Raises:
        UsageError: a value is wrong, or two do not go together.
    """

    model: str = _flag(
        "mlp", _WHAT, "NAME", f"{', '.join(MODELS)}, a name of keras.applications, module:function"
    )
    precision: str = _flag("float32", _WHAT, "NAME", ", ".join(PRECISIONS))
    strategy: str = _flag("auto", _WHERE, "NAME", ", ".join(STRATEGIES))
    devices: str | None = _flag(
        None, _WHERE, "LIST", "cpu, cpu:2, gpu, gpu:4 or gpu:0,2 in each process [GPUs, else CPU]"
    )
    stall_seconds: float = _flag(
        120.0, _WHERE, "N", "how long a task may be silent or keep others waiting; inf: no limit"
    )
    explain: bool = _flag(
        False, _WHERE, "", "say which strategy is chosen, and why not the others; train nothing"
    )
    global_batch_size: int | None = _flag(
        None, _HOW, "N", "examples in one step over all replicas: give this or the next"
    )
    batch_size_per_replica: int | None = _flag(
        None, _HOW, "N", "examples in one step on each replica"
    )
    epochs: int = _flag(1, _HOW, "N", "passes over the data")
    steps_per_epoch: int | None = _flag(None, _HOW, "N", "steps in one epoch [the whole data]")
    optimizer: str = _flag("adam", _HOW, "NAME", ", ".join(OPTIMIZERS))
    learning_rate: float | None = _flag(None, _HOW, "RATE", "of the optimizer [its own]")
    seed: int = _flag(0, _HOW, "N", "of all random numbers, so that a run can be repeated")
    verbose: str = _flag(
        "auto",
        _HOW,
        "WHEN",
        "0 nothing, 1 a bar, 2 a line an epoch; auto: 1 on a terminal, else 2",
    )
    log_dir: str | None = _flag(
        None, _SEEN, "FOLDER", "for TensorBoard: curves, flags and run record [none]"
    )
    log_every: int | None = _flag(
        None, _SEEN, "N", "steps from a line, and from a point of TensorBoard, to the next"
    )
    log_format: str = _flag("text", _SEEN, "NAME", "text, or json for one object a line")
    log_tasks: str = _flag(
        "chief", _SEEN, "WHICH", "chief, or all: each task with a folder of its own in log_dir"
    )
    log_graph: bool = _flag(
        False, _SEEN, "", "write the graph of the training step into log_dir too, once"
    )
    profile_steps: str | None = _flag(
        None, _SEEN, "A:B", "trace steps A up to B, such as 10:20, into log_dir"
    )
    checkpoint_dir: str | None = _flag(
        None, _KEPT, "FOLDER", "where checkpoints are kept, in a folder that all tasks share [none]"
    )
    checkpoint_every_steps: int | None = _flag(
        None, _KEPT, "N", "steps from one checkpoint to the next"
    )
    checkpoint_every_minutes: float | None = _flag(None, _KEPT, "N", "minutes, likewise")
    checkpoint_every_epochs: int | None = _flag(
        None, _KEPT, "N", "epochs, likewise [1 if neither steps nor minutes are given]"
    )
    keep: int = _flag(3, _KEPT, "N", "how many of the last checkpoints are kept")
    keep_best: str | None = _flag(
        None, _KEPT, "METRIC", "keep that of the best epoch too, by a metric such as val_loss"
    )
    resume: str = _flag(
        "auto",
        _KEPT,
        "WHEN",
        "auto: go on from the last whole checkpoint; never: put aside those there are, and begin",
    )
    async_save: bool = _flag(
        False, _KEPT, "", "write checkpoints while training goes on, from a copy of the weights"
    )
    on_nan: str = _flag(
        "stop",
        _KEPT,
        "WHAT",
        "when a loss is not a number: stop; rollback to the last checkpoint and leave that batch "
        "out; ignore",
    )
    export_dir: str | None = _flag(
        None, _KEPT, "FOLDER", "for the trained model, as a .keras file and a SavedModel [none]"
    )

    def __post_init__(self) -> None:
        DataFlags.__post_init__(self)
        SpeedFlags.__post_init__(self)
        for name, choices in (
            ("precision", PRECISIONS),
            ("strategy", STRATEGIES),
            ("optimizer", OPTIMIZERS),
            ("verbose", VERBOSITIES),
            ("resume", RESUMES),
            ("log_format", LOG_FORMATS),
            ("log_tasks", LOG_TASKS),
            ("on_nan", ON_NAN),
        ):
            _check_choice(name, getattr(self, name), choices)
        for name in _COUNTS:
            _check_count(name, getattr(self, name))
        self._check_checkpoints()
        self._check_seen()
        _check_seconds(self.stall_seconds)
        _check_rate(self.learning_rate)
        _check_model(self.model)
        parse_devices(self.devices)
        check_seed(self.seed)
        if not self.explain:
            _check_batch_sizes(self.global_batch_size, self.batch_size_per_replica)

    def _check_checkpoints(self) -> None:
        minutes = self.checkpoint_every_minutes
        if minutes is not None and not 0 < minutes < math.inf:
            raise UsageError(
                f"--checkpoint_every_minutes is {minutes}, but must be above 0: give one such as 10"
            )
        given = [name for name in _OF_CHECKPOINTS if getattr(self, name)]
        if self.checkpoint_dir is None and given:
            raise UsageError(
                f"--{given[0]} was given without --checkpoint_dir: give the folder too"
            )
        if self.checkpoint_dir is None and self.on_nan == "rollback":
            raise UsageError("--on_nan=rollback goes back to a checkpoint: give --checkpoint_dir")
        if self.sync == "local" and self.on_nan == "rollback":
            raise UsageError(
                "--on_nan=rollback needs one step of all workers, and --sync=local was given: give "
                "--on_nan=stop"
            )

    def _check_seen(self) -> None:
        if self.log_dir is not None:
            need("tensorboard", extra="tensorboard", purpose="--log_dir")
        if self.profile_steps is not None:
            parse_steps("--profile_steps", self.profile_steps)
        for name in ("profile_steps", "log_graph"):
            if self.log_dir is None and getattr(self, name):
                raise UsageError(f"--{name} was given without --log_dir: give the folder too")

    def same(self) -> dict[str, Any]:
        """Return what every task of a job must be told alike, by name."""
        return {e.name: getattr(self, e.name) for e in fields(self) if e.name not in _OF_EACH}

    def global_batch(self, replicas: int) -> int:
        """The number of examples in one step over this many replicas."""
        return self.global_batch_size or (self.batch_size_per_replica or 1) * replicas


def _check_choice(name: str, value: str, choices: Iterable[str]) -> None:
    if value not in choices:
        close = names.suggestion(value, choices)
        raise UsageError(f"--{name} is {value!r}: give one of {', '.join(choices)}{close}")


def _check_count(name: str, value: int | None) -> None:
    if value is not None and value < 1:
        raise UsageError(f"--{name} is {value}, but must be 1 or more: give a larger number")


def _check_seconds(value: float) -> None:
    if not value > 0:
        raise UsageError(f"--stall_seconds is {value}, but must be above 0: give 120 or inf")


def _check_rate(value: float | None) -> None:
    if value is not None and not (math.isfinite(value) and value > 0):
        raise UsageError(f"--learning_rate is {value}, but must be above 0: give one such as 0.001")


def _check_model(name: str) -> None:
    # Every model of keras.applications begins with a capital, and all others can be known here.
    capital = name.removeprefix("keras.applications.")[:1].isupper()
    if not (name in MODELS or capital or names.is_function(name)):
        raise UsageError(
            f"--model is {name!r}: give {', '.join(MODELS)}, a name of keras.applications such as "
            f"MobileNetV2, or module:function{names.suggestion(name, MODELS)}"
        )


def _check_batch_sizes(of_all: int | None, of_each: int | None) -> None:
    if of_all is None and of_each is None:
        raise UsageError(
            "no batch size was given: give --global_batch_size (such as 64) or "
            "--batch_size_per_replica"
        )
    if of_all is not None and of_each is not None:
        raise UsageError(
            f"--global_batch_size is {of_all} and --batch_size_per_replica is {of_each}, but one "
            "follows from the other: give one of them"
        )
