"""Are the tasks alike, as far as a training wants them to be?"""

import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import tfdist
from tfdist.cluster import Cluster
from tfdist.cluster.differences import first_difference
from tfdist.cluster.variables import environment
from tfdist.diagnosis.finding import Finding, fail, ok, warn
from tfdist.diagnosis.versions import installed

# Variables that change what is computed or how it travels; not those that say which task this is.
_VARIABLES = ("TF_", "XLA_", "KERAS_", "NCCL_", "NVIDIA_TF32", "GRPC_", "CUDA_VISIBLE_DEVICES")
_OF_THE_TASK = ("TF_CONFIG", "TF_NUM_", "TF_CPP_", "NCCL_SOCKET_IFNAME")


def facts(cluster: Cluster, devices: Mapping[str, Any] | None) -> dict[str, Any]:
    """What must be the same in all tasks, and under "variables" what should be, as JSON."""
    alike: dict[str, Any] = {
        "tfdist": tfdist.__version__,
        "tensorflow": installed("tensorflow"),
        "keras": installed("keras"),
        "python": platform.python_version().rpartition(".")[0],
    }
    if devices and not cluster.has_ps:  # chief and ps tasks have other devices than workers
        alike["devices"] = {key: devices[key] for key in ("kind", "count")}
    kept = {
        name: value
        for name, value in sorted(environment().items())
        if name.startswith(_VARIABLES) and not name.startswith(_OF_THE_TASK)
    }
    return {"alike": alike, "variables": kept}


def check(all_facts: Sequence[tuple[str, Mapping[str, Any]]]) -> Iterator[Finding]:
    """Compare what the tasks have told, each with its name, with what the first one has."""
    (first, ours), *others = all_facts
    found = [
        finding
        for task, theirs in others
        for name, judge in (("alike", fail), ("variables", warn))
        for finding in _compare((first, ours[name]), (task, theirs[name]), judge)
    ]
    yield from found
    if not found:
        yield ok("agreement", f"all {len(all_facts)} tasks have the same versions and variables")


def _compare(one: tuple[str, Any], other: tuple[str, Any], judge: Any) -> Iterator[Finding]:
    (here, ours), (there, theirs) = one, other
    for name in dict.fromkeys([*ours, *theirs]):
        both = [{name: each[name]} if name in each else {} for each in (ours, theirs)]
        if difference := first_difference(*both):
            path, mine, its = difference
            yield judge(
                "agreement",
                f"{path} is {_plain(mine)} on {here} and {_plain(its)} on {there}",
                "give every task the same",
            )


def _plain(text: str) -> str:
    return text if text == "absent" else str(json.loads(text)) if not text.endswith("...") else text
