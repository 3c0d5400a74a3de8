import json
import time

import pytest

from tests.processes import hold_ports, run_alone, run_tasks, start_tasks

_SHOW = "import os, sys; print(os.environ['TF_CONFIG']); sys.exit(7)"


def test_each_task_gets_its_own_place_in_one_cluster():
    results = run_tasks(_SHOW, workers=2, ps=1, chief=True, timeout_seconds=30)
    configs = [json.loads(result.stdout) for result in results]
    assert [result.task for result in results] == ["chief 0", "worker 0", "worker 1", "ps 0"]
    assert [result.returncode for result in results] == [7] * 4
    assert [f"{c['task']['type']} {c['task']['index']}" for c in configs] == [
        "chief 0",
        "worker 0",
        "worker 1",
        "ps 0",
    ]
    assert all(config["cluster"] == configs[0]["cluster"] for config in configs)
    addresses = [a for job in configs[0]["cluster"].values() for a in job]
    assert len(set(addresses)) == 4


def test_one_process_sees_no_cluster(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", "{}")
    monkeypatch.setenv("SLURM_PROCID", "0")
    result = run_alone(
        "import os; print([k for k in ('TF_CONFIG', 'SLURM_PROCID', 'MINE') if k in os.environ])",
        env={"MINE": "1"},
    )
    assert result.stdout.strip() == "['MINE']"


def test_arguments_instead_of_a_script():
    assert run_alone(("-c", "print(6 * 7)")).stdout == "42\n"


def test_what_does_not_end_is_told_and_killed():
    script = "import time; print('so far', flush=True); time.sleep(600)"
    begun = time.monotonic()
    with pytest.raises(TimeoutError, match=r"(?s)not ended after 2 s.*worker 0.*so far.*worker 1"):
        run_tasks(script, timeout_seconds=2)
    assert time.monotonic() - begun < 20


def test_what_a_test_leaves_running_is_killed():
    with start_tasks("import time; time.sleep(600)", workers=1) as (worker,):
        assert worker.process.poll() is None
    assert worker.process.poll() == -9


def test_held_ports_are_not_given_twice():
    with hold_ports(20) as ours, hold_ports(20) as theirs:
        assert len({*ours, *theirs}) == 40
