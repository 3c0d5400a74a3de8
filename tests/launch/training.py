"""A short training of the digits, by which every way to start tasks is compared with one device."""

import functools
import json

import pytest

from tests.processes import run_alone

TRAIN = (
    *("-m", "tfdist.train", "--dataset=digits", "--model=mlp", "--global_batch_size=64"),
    *("--epochs=2", "--verbose=0"),
)


@functools.cache
def norm_on_one_device():
    """The norm of the weights that the training has on one device."""
    return _record(run_alone([*TRAIN, "--strategy=one_device"]).stdout)["weights_norm"]


def check(output, replicas=2):
    """Compare the run record in the last line of `output` with one device."""
    record = _record(output)
    assert record["replicas"] == replicas
    assert record["weights_norm"] == pytest.approx(norm_on_one_device(), rel=1e-5)


def records(output):
    """The run records, all alike, among lines of several tasks that come in any order."""
    return "\n".join(line for line in output.splitlines() if '"weights_norm"' in line)


def _record(output):
    line = output.splitlines()[-1]
    return json.loads(line[line.index("{") :])
