import re

import pytest

from tfdist.cluster import Task
from tfdist.errors import UsageError
from tfdist.launch.tasks import chosen, tasks_of

CHIEF, ZERO, ONE, PS = Task("chief", 0), Task("worker", 0), Task("worker", 1), Task("ps", 0)
ALL = [CHIEF, ZERO, ONE, PS]


def test_tasks_of_sizes():
    assert tasks_of({"chief": 1, "worker": 2, "ps": 1}) == ALL


@pytest.mark.parametrize(
    ("roles", "tasks", "expected"),
    [
        (None, ALL, ALL),
        ("chief", ALL, [CHIEF]),
        ("ps, worker", ALL, [ZERO, ONE, PS]),
        ("worker:1", ALL, [ONE]),
        ("chief", [ZERO, ONE], [ZERO]),
    ],
)
def test_chosen(roles, tasks, expected):
    assert chosen(roles, tasks) == expected


@pytest.mark.parametrize("role", ["evaluator", "worker:2", "boss"])
def test_unknown_roles_are_refused(role):
    said = f"--role has {role!r}, and the cluster has the jobs chief, worker, ps: give some of"
    with pytest.raises(UsageError, match=re.escape(said)):
        chosen(role, ALL)
