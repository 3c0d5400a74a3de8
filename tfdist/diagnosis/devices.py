"""Does TensorFlow load, and which devices does it see? It is asked in a process of its own."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tfdist.cluster.variables import variable
from tfdist.diagnosis.finding import Finding, fail, ok, warn
from tfdist.launch import keeper

_LOAD_SECONDS = 180
_QUESTION = """
import json, sys
from dataclasses import asdict
from tfdist.run.loading import load_tensorflow
load_tensorflow()
import keras
from tfdist.factory.devices import Request
from tfdist.factory.hardware import survey
told = {"devices": asdict(survey(Request())), "backend": keras.config.backend()}
sys.stdout.write("\\n" + json.dumps(told) + "\\n")
"""
_KILLED = {
    signal.SIGILL: ("this processor lacks instructions that it needs", "use another host"),
    signal.SIGKILL: ("it was killed, most likely for want of memory", "free or add memory"),
}


class Question:
    """Asks TensorFlow for its devices while other things are looked at."""

    def __init__(self) -> None:
        self._asked = subprocess.Popen(
            [sys.executable, "-c", _QUESTION],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=keeper.die_with_parent,
        )

    def answer(self) -> dict[str, Any] | Finding:
        """The fields of `tfdist.factory.Devices`, or why there is none."""
        try:
            out, err = self._asked.communicate(timeout=_LOAD_SECONDS)
        except subprocess.TimeoutExpired:
            self._asked.kill()
            self._asked.communicate()
            return _broken(f"it is not done after {_LOAD_SECONDS} s", "look at the file system")
        asked_for = variable("KERAS_BACKEND") or "tensorflow"
        if self._asked.returncode and asked_for != "tensorflow":  # which may not be installed
            return _backend(asked_for)
        if self._asked.returncode:
            return _explained(self._asked.returncode, err)
        told = json.loads(out.splitlines()[-1])
        return told["devices"] if told["backend"] == "tensorflow" else _backend(told["backend"])


def check(devices: dict[str, Any]) -> Iterator[Finding]:
    """Judge what TensorFlow sees."""
    gpus = len(list(Path("/dev").glob("nvidia[0-9]*")))
    count, kind, size = (devices[key] for key in ("count", "kind", "bytes_per_device"))
    if gpus and kind == "CPU":
        yield warn(
            "devices",
            f"the system has {gpus} GPUs and TensorFlow sees none",
            "pip install 'tensorflow[and-cuda]', and look at the driver and CUDA_VISIBLE_DEVICES",
        )
    else:
        each = f" with {size / 1e9:.1f} GB each" if size and kind == "GPU" else ""
        yield ok("devices", f"TensorFlow sees {count} {kind}{each}")


def _backend(name: str) -> Finding:
    return fail(
        "devices",
        f"Keras runs on {name}, and tf.distribute needs TensorFlow",
        "export KERAS_BACKEND=tensorflow",
    )


def _explained(code: int, err: str) -> Finding:
    if code < 0 and -code in _KILLED:
        return _broken(*_KILLED[signal.Signals(-code)])
    last = (err.strip() or f"exit code {code}").splitlines()[-1]
    return _broken(last, "install tfdist anew, and look at `python -c 'import tensorflow'`")


def _broken(why: str, remedy: str) -> Finding:
    return fail("devices", f"TensorFlow cannot be loaded: {why}", remedy)
