"""TF_CONFIG: the cluster as TensorFlow's own environment variable describes it.

Format: https://www.tensorflow.org/guide/distributed_training#setting_up_the_tf_config_environment_variable
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from tfdist.cluster.spec import Cluster
from tfdist.cluster.task import Task
from tfdist.errors import UsageError

NAME = "TF_CONFIG"
_EXAMPLE = (
    '{"cluster": {"worker": ["host1:2222", "host2:2222"]}, "task": {"type": "worker", "index": 0}}'
)
_UNSET = f"unset it to use this machine alone, or write it like {_EXAMPLE}"
# Besides cluster and task: Kubeflow and Google Cloud add environment, Google Cloud adds job.
_KEYS = ("cluster", "task", "environment", "rpc_layer", "job")
_TASK_KEYS = ("type", "index", "trial", "cloud")
_MASTER_NOTE = 'TF_CONFIG names a "master": it is the chief here.'


def detect(env: Mapping[str, str]) -> bool:
    """Whether TF_CONFIG is set, even to nothing, by whomever."""
    return NAME in env


def cluster(env: Mapping[str, str]) -> Cluster:
    """The cluster that TF_CONFIG describes.

    Raises:
        UsageError: when it is not a complete, consistent description.
    """
    return parse(env[NAME])


def rank_and_size(env: Mapping[str, str]) -> tuple[int, int] | None:
    """None: TF_CONFIG describes the cluster itself."""
    return None


def parse(text: str, source: str = NAME) -> Cluster:
    """The cluster in the JSON `text` of a TF_CONFIG.

    Args:
        text: The JSON.
        source: Who wrote it, for people.

    Raises:
        UsageError: one sentence that names the offending part and the remedy.
    """
    try:
        config = _object(_decode(text), "it", _KEYS)
        if not config:
            raise ValueError(f"it is empty; {_UNSET}")
        jobs, renamed = _jobs(config)
        task = _task(config)
    except ValueError as error:
        raise UsageError(f"{source}: {error}.") from None
    if task.type == "master":
        task = Task("chief", task.index)
    notes = (_MASTER_NOTE,) if renamed else ()
    return Cluster(jobs, task, source, notes, {"cluster": NAME, "task": NAME})


def _decode(text: str) -> Any:
    if not text.strip():
        raise ValueError(f"it is empty; {_UNSET}")
    try:
        return json.loads(text, object_pairs_hook=_without_repeats)
    except json.JSONDecodeError as error:
        if _is_json(text.strip().strip("'")) or _is_json(text.replace("'", '"')):
            problem = "it has single quotes where JSON has double quotes"
        else:
            problem = f"it is not JSON, {_lower(error.msg)} at character {error.pos + 1}"
    raise ValueError(f"{problem}; write it like {_EXAMPLE}, or with json.dumps")


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    for key, _ in pairs:
        if sum(key == other for other, _ in pairs) > 1:
            raise ValueError(f"it has the key {key!r} twice in one object; keep one")
    return dict(pairs)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _object(value: Any, name: str, known: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{name} is {_kind(value)}; it must be an object, like {_EXAMPLE}")
    for key in value:
        if key not in known:
            raise ValueError(f"{name} has the unknown key {key!r}; the keys are {', '.join(known)}")
    return value


def _jobs(config: dict[str, Any]) -> tuple[dict[str, dict[int, str]], bool]:
    described = config.get("cluster")
    if described is not None and not isinstance(described, dict):
        raise ValueError(f"cluster is {_kind(described)}; it must be an object, like {_EXAMPLE}")
    jobs = {job: _addresses(job, tasks) for job, tasks in (described or {}).items()}
    jobs = {job: tasks for job, tasks in jobs.items() if tasks}
    if not jobs:
        raise ValueError(f"it has no cluster with an address in it; {_UNSET}")
    if "master" not in jobs:
        return jobs, False
    if "chief" in jobs or len(jobs["master"]) > 1:
        raise ValueError("the cluster has two chiefs, a master being one; keep one of them")
    return {"chief": jobs.pop("master"), **jobs}, True


def _addresses(job: str, tasks: Any) -> dict[int, str]:
    if isinstance(tasks, list):
        tasks = dict(enumerate(tasks))
    elif isinstance(tasks, dict):
        tasks = _by_index(job, tasks)
    else:
        raise ValueError(f"{job} is {_kind(tasks)}; it must be a list of host:port")
    for index, address in tasks.items():
        if not isinstance(address, str):
            raise ValueError(
                f"the address of {job} {index} is {_kind(address)}; it must be text, host:port"
            )
    return tasks


def _by_index(job: str, tasks: dict[str, Any]) -> dict[int, Any]:
    indexed = {_index(index, f"{job}'s index"): address for index, address in tasks.items()}
    if len(indexed) < len(tasks):
        raise ValueError(f"two {job} indices are the same number; keep one of them")
    return indexed


def _task(config: dict[str, Any]) -> Task:
    if not config.get("task"):
        raise ValueError('it has no task; add "task": {"type": "worker", "index": 0}')
    task = _object(config["task"], "task", _TASK_KEYS)
    for key in ("type", "index"):
        if key not in task:
            raise ValueError(f'the task has no {key}; write "task": {{"type": ..., "index": ...}}')
    if not isinstance(task["type"], str):
        raise ValueError(f"the task's type is {_kind(task['type'])}; it must be text")
    return Task(task["type"], _index(task["index"], "the task's index"))


def _index(value: Any, name: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]+", value):
        return int(value)
    raise ValueError(f"{name} is {json.dumps(value)}; it must be a whole number, 0 or more")


def _kind(value: Any) -> str:
    kinds = {dict: "an object", list: "a list", str: "text", bool: "true or false", int: "a number"}
    return "null" if value is None else kinds.get(type(value), "a number")


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
