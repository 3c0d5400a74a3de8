"""What does `--devices` ask for? Pure: nothing here imports TensorFlow."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tfdist.errors import UsageError

_EXAMPLES = "cpu, cpu:2, gpu, gpu:4 or gpu:0,2"


@dataclass(frozen=True)
class Request:
    """The devices a user asked for, on each machine.

    Attributes:
        kind: "CPU" or "GPU"; None takes the GPUs if there are any, else the CPU.
        count: Number of devices; None takes one CPU, or all GPUs.
        numbers: The GPUs by their physical number; None takes the first `count`.
    """

    kind: str | None = None
    count: int | None = None
    numbers: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Devices:
    """The devices that one process computes on.

    Attributes:
        kind: "CPU" or "GPU".
        count: Number of devices, at least 1.
        bytes_per_device: Memory of each device in bytes; None when it is not known.
        host_bytes: Memory of the machine in bytes; None when it is not known.
    """

    kind: str
    count: int
    bytes_per_device: int | None = None
    host_bytes: int | None = None

    def __str__(self) -> str:
        return f"{self.count} {self.kind} device{'s' if self.count > 1 else ''}"

    @property
    def names(self) -> tuple[str, ...]:
        """TensorFlow's names of the logical devices: /device:GPU:0, /device:GPU:1, ..."""
        return tuple(f"/device:{self.kind}:{i}" for i in range(self.count))


def parse(text: str | None) -> Request:
    """Read `cpu`, `cpu:2` (two logical CPUs), `gpu`, `gpu:4` (four GPUs) or `gpu:0,2` (these two).

    A trailing comma makes a single GPU number: `gpu:3,` is the GPU numbered 3. None is no request.

    Raises:
        UsageError: the text is none of these.
    """
    if text is None:
        return Request()
    match = re.fullmatch(r"(cpu|gpu)(?::(\d+(?:,\d+)*,?))?", str(text).strip().lower())
    if match is None:
        raise UsageError(f"devices {text!r} was not understood: write {_EXAMPLES}.")
    kind, numbers = match[1].upper(), match[2]
    if numbers is None:
        return Request(kind)
    return _numbered(text, numbers) if "," in numbers else _counted(text, kind, int(numbers))


def _counted(text: str, kind: str, count: int) -> Request:
    if count == 0:
        first = " (the GPU numbered 0 is written gpu:0,)" if kind == "GPU" else ""
        raise UsageError(
            f"devices {text!r} asks for no device at all: give a count of 1 or more{first}."
        )
    return Request(kind, count)


def _numbered(text: str, numbers: str) -> Request:
    if not text.strip().lower().startswith("gpu"):
        raise UsageError(
            f"devices {text!r} gives numbers to logical CPUs, which have none: give a count, as in "
            "cpu:2."
        )
    chosen = tuple(int(n) for n in numbers.rstrip(",").split(","))
    if len(set(chosen)) < len(chosen):
        raise UsageError(f"devices {text!r} names a GPU twice: name each once.")
    return Request("GPU", len(chosen), chosen)
