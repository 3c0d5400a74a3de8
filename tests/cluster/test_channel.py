"""The side channel: what passes, and how soon the end of a task is known. Real processes."""

import json
import signal
import time

import pytest

from tests.cluster.scripts import python
from tests.processes import run_tasks, start_tasks, wait_all

GATHER = """
channel = meet(cluster, {})
seen = [channel.gather("who", me), channel.gather("who", me * 2), channel.gather("n", [1.5, None])]
print(json.dumps(seen))
channel.gather("end", None)
channel.close()
"""


def test_gather_is_in_rank_order_and_a_key_can_be_used_again():
    ended = run_tasks(python(GATHER), workers=2, ps=1, chief=True, timeout_seconds=30)
    assert [result.returncode for result in ended] == [0] * 4, ended
    who = ["chief 0", "worker 0", "worker 1", "ps 0"]
    expected = [who, [name * 2 for name in who], [[1.5, None]] * 4]
    assert [json.loads(result.stdout) for result in ended] == [expected] * 4


def test_gather_carries_megabytes():
    script = 'print(len(meet(cluster, {}).gather("large", "x" * 3_000_000)[2]))'
    ended = run_tasks(python(script + "\ntime.sleep(0.2)"), workers=3, timeout_seconds=30)
    assert [result.stdout for result in ended] == ["3000000\n"] * 3, ended


def test_one_task_gathers_ahead_of_the_others():
    script = """
channel = meet(cluster, {})
if me == "worker 1": time.sleep(0.3)
print([channel.gather(key, [me, key])[1] for key in "abc"])
channel.gather("end", None)
"""
    ended = run_tasks(python(script), workers=3, timeout_seconds=30)
    assert {result.stdout for result in ended} == {
        "[['worker 1', 'a'], ['worker 1', 'b'], ['worker 1', 'c']]\n"
    }


@pytest.mark.parametrize("code", [0, 1])
def test_who_serves_ends_with_the_chief(code):
    script = f"""
channel = meet(cluster, {{}})
if cluster.serves_only: sys.exit(channel.wait_finish())
channel.finish({code})
channel.close()
"""
    ended = run_tasks(python(script), workers=1, ps=1, chief=True, timeout_seconds=30)
    assert [result.returncode for result in ended] == [0, code, code], ended


def test_a_chief_that_leaves_without_finishing_is_no_success():
    script = """
channel = meet(cluster, {})
if cluster.serves_only: sys.exit(channel.wait_finish())
channel.close()
"""
    ended = run_tasks(python(script), workers=1, ps=1, chief=True, timeout_seconds=30)
    assert [result.returncode for result in ended] == [0, 75, 75], ended


MET = 'channel = meet(cluster, {}, wait_seconds=20)\nprint("met")\n'
FORK = "if os.fork() == 0: time.sleep(20)\n"


def killed(script, victim, **sizes):
    """Kill one task as soon as all have met; how the others end, and how long that takes."""
    with start_tasks(python(MET + script), **sizes) as running:
        for task in running:
            while "met" not in task.output()[0]:
                assert task.process.poll() is None, task.output()
                time.sleep(0.01)
        killed_task = next(task for task in running if task.task == victim)
        # The process alone: what it forked lives on.
        killed_task.process.send_signal(signal.SIGKILL)
        before = time.monotonic()
        ended = wait_all([task for task in running if task is not killed_task], 30)
        return ended, time.monotonic() - before


@pytest.mark.parametrize("fork", ["", FORK])
def test_a_killed_chief_ends_who_serves_at_once(fork):
    script = f"""
if cluster.serves_only: sys.exit(channel.wait_finish())
{fork}
time.sleep(20)
"""
    ended, seconds = killed(script, "chief 0", workers=1, ps=1, chief=True)
    assert [result.returncode for result in ended] == [75, 75], ended
    assert seconds < 2


def test_a_killed_worker_does_not_end_who_serves():
    script = """
if me == "ps 0": sys.exit(channel.wait_finish())
if me == "worker 0": time.sleep(20)
while not channel.lost: time.sleep(0.02)
print(channel.lost)
channel.finish(0)
"""
    ended, _ = killed(script, "worker 0", workers=1, ps=1, chief=True)
    assert [result.returncode for result in ended] == [0, 0], ended
    assert "worker 0 at 127.0.0.1:" in ended[0].stdout
    assert " is lost: " in ended[0].stdout


@pytest.mark.parametrize("victim", ["worker 0", "worker 2"])
def test_gather_names_a_dead_peer_on_every_task(victim):
    script = f'if me == "{victim}": time.sleep(20)\nchannel.gather("step 7", 0)'
    ended, seconds = killed(script, victim, workers=3)
    for result in ended:
        assert result.returncode == 75, ended
        assert f"StartAgainError: {victim} at 127.0.0.1:" in result.stderr
        assert " is lost: " in result.stderr
        assert result.stderr.endswith("; start the job again.\n")
    assert seconds < 2


def test_gather_names_who_does_not_come():
    script = """
channel = meet(cluster, {}, wait_seconds=1, say_every_seconds=0.4)
if me == "worker 1": time.sleep(20)
channel.gather("plan", 0)
"""
    with start_tasks(python(script), workers=3) as running:
        chief, _, other = running
        ended = wait_all([chief, other], 30)
    for result in ended:
        assert result.returncode == 75, ended
        assert "worker 1 did not give its plan within 1 s; start the job again." in result.stderr
    assert "tfdist: worker 0 has waited 0 of 1 s for worker 1 to give its plan" in ended[0].stderr


def test_tasks_that_give_different_things_do_not_wait_for_each_other():
    script = """
channel = meet(cluster, {})
channel.gather("call", 0)
channel.gather("checkpoint" if me == "worker 1" else "call", 0)
"""
    for result in run_tasks(python(script), workers=3, timeout_seconds=30):
        assert result.returncode == 2
        assert "worker 1 gives its checkpoint where worker 0 gives its call: start every task" in (
            result.stderr
        )


def test_gather_with_one_that_has_left():
    script = """
channel = meet(cluster, {})
if me == "worker 1":
    channel.close()
    sys.exit()
channel.gather("end", None)
"""
    ended = run_tasks(python(script), workers=2, timeout_seconds=30)
    assert [result.returncode for result in ended] == [75, 0], ended
    assert "worker 1 has ended before the others; start the job again." in ended[0].stderr


def test_leaving_on_good_terms_is_no_loss():
    script = """
channel = meet(cluster, {})
channel.when_lost(lambda sentence: print(sentence))
channel.gather("end", None)
if me == "worker 1": channel.close()
else:
    while Task("worker", 1) not in channel._left: time.sleep(0.01)
    print(channel.lost)
"""
    ended = run_tasks(python(script), workers=2, timeout_seconds=30)
    assert [(result.returncode, result.stdout) for result in ended] == [(0, "None\n"), (0, "")]


def test_who_is_busy_elsewhere_is_called_when_a_task_is_lost():
    # As a step that hangs in a collective: the main thread asks nothing of the channel.
    script = """
def leave(sentence):
    print(sentence, flush=True)
    os._exit(75)
channel.when_lost(leave)
time.sleep(20)
"""
    ended, seconds = killed(script, "worker 1", workers=3)
    for result in ended:
        assert result.returncode == 75, ended
        assert "worker 1 at 127.0.0.1:" in result.stdout
    assert seconds < 2


def test_when_lost_tells_also_what_is_lost_already():
    script = """
if me == "worker 1": time.sleep(20)
while not channel.lost: time.sleep(0.01)
heard = []
channel.when_lost(heard.append)
print(heard == [channel.lost])
"""
    ended, _ = killed(script, "worker 1", workers=2)
    assert ended[0].stdout == "met\nTrue\n"


@pytest.mark.parametrize("call", ["channel.wait_finish()", "channel.gather('never', 0)"])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, -15), (signal.SIGINT, -2)])
def test_a_signal_ends_the_wait_at_once(call, number, code):
    script = f"""
sys.excepthook = sys.__excepthook__
if cluster.is_chief: time.sleep(20)
sys.stdout.write("waits"); sys.stdout.flush()
{call}
"""
    with start_tasks(python(MET + script), workers=2) as running:
        while "waits" not in running[1].output()[0]:
            assert running[1].process.poll() is None
            time.sleep(0.01)
        running[1].kill(number)
        before = time.monotonic()
        assert running[1].wait(10).returncode == code
    assert time.monotonic() - before < 2
