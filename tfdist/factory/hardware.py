"""Which devices are there, and make TensorFlow use those that were asked for."""

from __future__ import annotations

import shutil
import subprocess

import psutil

from tfdist.errors import UsageError
from tfdist.factory.devices import Devices, Request
from tfdist.factory.too_early import too_early

_NVIDIA_SMI = ("nvidia-smi", "--query-gpu=memory.total", "--format=csv,noheader,nounits")


def survey(request: Request) -> Devices:
    """Describe the devices of a request. Lists physical devices only, so that nothing is set up.

    Raises:
        UsageError: this machine has fewer GPUs than were asked for.
    """
    host_bytes = psutil.virtual_memory().total
    if request.kind == "GPU" or (request.kind is None and _physical("GPU")):
        return Devices("GPU", len(_gpus(request)), _gpu_bytes(), host_bytes)
    count = request.count or 1
    # Logical CPUs share the memory of the machine.
    return Devices("CPU", count, host_bytes // count, host_bytes)


def apply(request: Request) -> None:
    """Make TensorFlow see the devices of a request, and no other GPU.

    Raises:
        UsageError: TensorFlow already ran and was set up with other devices.
    """
    import tensorflow as tf

    try:
        if request.kind == "GPU":
            tf.config.set_visible_devices(_gpus(request), "GPU")
        elif request.kind == "CPU":
            tf.config.set_visible_devices([], "GPU")
            _split_cpu(request.count or 1)
    except RuntimeError as error:
        raise too_early("other devices can no longer be set up") from error


def _split_cpu(count: int) -> None:
    import tensorflow as tf

    cpu = _physical("CPU")[0]
    logical = tf.config.get_logical_device_configuration(cpu) or [None]
    # More logical devices than asked for may stay: a strategy names those that it uses.
    if len(logical) < count:
        wanted = [tf.config.LogicalDeviceConfiguration() for _ in range(count)]
        tf.config.set_logical_device_configuration(cpu, wanted)


def _gpus(request: Request) -> list:
    gpus = _physical("GPU")
    if not gpus:
        raise UsageError(
            "GPUs were asked for, and TensorFlow sees none on this machine: use cpu, or install "
            "the driver and tensorflow[and-cuda]."
        )
    numbers = request.numbers or range(request.count or len(gpus))
    missing = [n for n in numbers if n >= len(gpus)]
    if missing:
        raise UsageError(
            f"{_wanted(request)} were asked for, and this machine has {len(gpus)}, "
            f"numbered from 0 to {len(gpus) - 1}: ask for no more."
        )
    return [gpus[n] for n in numbers]


def _wanted(request: Request) -> str:
    if request.numbers:
        return f"the GPUs numbered {', '.join(map(str, request.numbers))}"
    return f"{request.count} GPUs"


def _physical(kind: str) -> list:
    import tensorflow as tf

    return tf.config.list_physical_devices(kind)


def _gpu_bytes() -> int | None:
    """The memory of the smallest GPU, in bytes; TensorFlow tells it only once it is set up."""
    if shutil.which(_NVIDIA_SMI[0]) is None:
        return None
    try:
        told = subprocess.run(_NVIDIA_SMI, capture_output=True, timeout=20, check=True, text=True)
        return min(int(line) for line in told.stdout.split()) * 2**20
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
