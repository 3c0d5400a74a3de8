"""A task that is stopped, slow or lost ends the others with 75. Real processes."""

import re
import signal
import time

import pytest

from tests.cluster.scripts import python
from tests.processes import start_tasks, wait_all

WATCH = """
from tfdist.cluster.pulse import PULSE
from tfdist.cluster.watchdog import Watchdog
channel = meet(cluster, {})
watchdog = Watchdog(cluster, channel, PULSE, STALL).start()
print("met", flush=True)
"""
# The main thread waits where Python cannot run, as inside TensorFlow.
WAIT = """
with PULSE.doing("trains", together=True, patience=1):
    PULSE.reach("step 3")
    os.read(os.pipe()[0], 1)
"""


def run(script, workers=3, stall=1.0, act=None, victim=1):
    """Each task's end, but that of a stopped one, and the seconds from the fault to the last."""
    code = WATCH.replace("STALL", str(stall)) + script
    with start_tasks(python(code), workers=workers) as running:
        for task in running:
            while "met" not in task.output()[0]:
                assert task.process.poll() is None, task.output()
                time.sleep(0.01)
        before = time.monotonic()
        if act is not None:
            running[victim].kill(act)
        can_end = [task for task in running if act != signal.SIGSTOP or task is not running[victim]]
        return wait_all(can_end, 30), time.monotonic() - before


@pytest.mark.parametrize("victim", [0, 2])
def test_a_stopped_task_is_named_on_every_other(victim):
    ended, seconds = run(WAIT, act=signal.SIGSTOP, victim=victim)
    for result in ended:
        assert result.returncode == 75, ended
        *stacks, last = result.stderr.splitlines()
        said = rf"worker {victim} has been silent for \d s.*; it is stopped, or its host, or the"
        assert re.match(said, last), ended
        assert f"tfdist: {result.task} was busy with this when it was ended:" in stacks
        assert any(line.endswith("in <module>") for line in stacks)
    assert 1 <= seconds < 6


def test_a_stopped_job_goes_on_when_it_is_continued():
    script = (
        "channel.gather('a', 0)\nprint('on', flush=True)\ntime.sleep(2)\nchannel.gather('b', 0)"
    )
    with start_tasks(python(WATCH.replace("STALL", "0.4") + script), workers=2) as running:
        for task in running:
            while "on" not in task.output()[0]:
                assert task.process.poll() is None, task.output()
                time.sleep(0.01)
        for number in (signal.SIGSTOP, signal.SIGCONT):
            for task in running:
                task.kill(number)
            time.sleep(1)
        ended = wait_all(running, 30)
    assert [result.returncode for result in ended] == [0, 0], ended


def test_who_waits_is_told_and_the_slow_one_is_named():
    script = f"""
if me == "worker 1":
    with PULSE.doing("is in a callback"): time.sleep(30)
{WAIT}"""
    ended, seconds = run(script, workers=2, stall=0.4)
    assert [result.returncode for result in ended] == [75, 75], ended
    assert "tfdist: worker 0 has waited 0 of 4 s for worker 1, which is in a callback" in (
        ended[0].stderr
    )
    assert all("worker 1 is behind: it is in a callback" in each.stderr for each in ended)
    assert 4 <= seconds < 8


def test_a_killed_task_is_named_though_the_main_thread_waits():
    ended, seconds = run(WAIT, act=signal.SIGKILL)
    lines = [result.stderr.splitlines()[-1] for result in ended if result.returncode == 75]
    assert len(lines) == 2
    assert all(line.startswith("worker 1 at 127.0.0.1:") for line in lines)
    assert all(
        line.endswith(" is lost: it closed the connection; start the job again.") for line in lines
    )
    assert seconds < 4


def test_the_reason_of_a_failure_travels():
    script = f"if me == 'worker 1':\n    channel.fail('ValueError: mine')\n    os._exit(1)\n{WAIT}"
    ended, _ = run(script)
    lines = [result.stderr.splitlines()[-1] for result in ended if result.returncode == 75]
    assert len(lines) == 2
    assert all(line.endswith(" has failed: ValueError: mine") for line in lines)


def test_who_only_computes_is_left_alone():
    ended, _ = run("time.sleep(2)\nchannel.gather('end', 0)", workers=2, stall=0.3)
    assert [(result.returncode, result.stderr) for result in ended] == [(0, ""), (0, "")]
