"""The chief takes a lost worker back that is started again. Real processes, without TensorFlow."""

import subprocess
import time
from pathlib import Path

from tests.cluster.scripts import python
from tests.processes import start_tasks

SERVE = """
from tfdist.cluster.pulse import PULSE
from tfdist.cluster.recall import Recall
from tfdist.cluster.watchdog import Watchdog
facts = {"python": os.environ.get("OTHER", "3")}
channel = meet(cluster, facts, wait_seconds=60)
watchdog = Watchdog(cluster, channel, PULSE, 60).start()
print("late" if channel.is_late else "met", flush=True)
if cluster.serves_only: os._exit(channel.wait_finish())
# TensorFlow has the chief's port now, and does not answer a task that comes there.
held = socket.create_server(("", int(cluster.address(cluster.task).split(":")[1])))
Recall(cluster, facts, channel, watchdog).start()
def until(condition):
    while not condition(): time.sleep(0.02)
"""
WAITS = """
until(lambda: channel.missing)
print(channel.fatal, len(watchdog._seen()), flush=True)
until(lambda: not channel.missing)
print(channel.fatal, len(watchdog._seen()), flush=True)
# A second loss is like the first.
until(lambda: channel.missing)
until(lambda: not channel.missing)
channel.finish(7)
channel.close()
"""
REFUSES = """
until(lambda: channel.missing)
until(lambda: os.path.exists(os.environ["REFUSED"]))
print(len(channel.missing), flush=True)
channel.finish(7)
channel.close()
"""


def command_of(task):
    """The words and the environment that a task was started with."""
    words, pairs = (
        Path(f"/proc/{task.process.pid}/{name}").read_bytes().split(b"\0")[:-1]
        for name in ("cmdline", "environ")
    )
    return words, dict(pair.split(b"=", 1) for pair in pairs)


def start(words, env):
    pipe = subprocess.PIPE
    return subprocess.Popen(words, env=env, stdout=pipe, stderr=pipe, text=True)


def until_met(running):
    for task in running:
        until_said(task, "met\n")


def until_said(task, line):
    while line not in task.output()[0]:
        assert task.process.poll() is None, task.output()
        time.sleep(0.02)


def test_a_worker_comes_back_as_often_as_it_is_lost():
    with start_tasks(python(SERVE + WAITS), workers=2, ps=1, chief=True) as running:
        until_met(running)
        chief, other, worker, _ = running
        command = command_of(worker)
        worker.kill()
        with start(*command) as second:
            assert second.stdout.readline() == "late\n"
            until_said(chief, "None 4\n")
            second.kill()
        with start(*command) as third:
            assert third.stdout.readline() == "late\n"
            assert third.wait(60) == other.wait(60).returncode == 7
        result = chief.wait(60)
    assert result.returncode == 0, result
    assert result.stdout == "met\nNone 3\nNone 4\n"
    said = [line for line in result.stderr.splitlines() if line.startswith("tfdist: worker 1 at")]
    assert [line.endswith(" is back") for line in said] == [False, True] * 2
    assert said[0].endswith("; its steps are run again, on others or when it is back.")


def test_one_that_differs_is_not_taken_back(tmp_path):
    refused = tmp_path / "refused"
    env = {"REFUSED": str(refused)}
    with start_tasks(python(SERVE + REFUSES), workers=2, ps=1, chief=True, env=env) as running:
        until_met(running)
        chief, _, worker, _ = running
        words, env = command_of(worker)
        worker.kill()
        with start(words, {**env, b"OTHER": b"2"}) as other:
            _, stderr = other.communicate(timeout=60)
        refused.touch()
        result = chief.wait(60)
    sentence = 'python is "3" on chief 0 and "2" on worker 1; start every task with the same.'
    assert (other.returncode, result.stdout) == (2, "met\n1\n")
    assert f"UsageError: {sentence}" in stderr
    assert f"tfdist: worker 1 is not taken back: {sentence}" in result.stderr
