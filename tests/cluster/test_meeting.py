"""All tasks meet, or each one that is there says who is missing and why. Real processes."""

import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from tests.cluster.scripts import python
from tests.processes import hold_ports, run_tasks, start_tasks, wait_all
from tfdist.cluster import Cluster, Task, meet

MEET = """
before = time.monotonic()
channel = meet(cluster, {})
print(before, time.monotonic())
channel.gather("end", None)
"""


@pytest.mark.parametrize("workers", [2, 3])
def test_meet_within_a_second(workers):
    ended = run_tasks(python(MEET), workers=workers, timeout_seconds=30)
    assert [result.returncode for result in ended] == [0] * workers, ended
    times = [tuple(map(float, result.stdout.split())) for result in ended]
    last_came = max(before for before, _ in times)
    assert max(after for _, after in times) - last_came < 1


def test_chief_workers_and_ps_meet_whoever_is_first():
    script = "if cluster.is_chief: time.sleep(0.3)\nmeet(cluster, {})"
    ended = run_tasks(python(script), workers=2, ps=1, chief=True, timeout_seconds=30)
    assert [result.returncode for result in ended] == [0] * 4, ended


def missing(absent, script="sys.exit()"):
    """One of two tasks does `script` instead of coming; what the other one says in the end."""
    lines = f"""
if me == "{absent}":
    {script}
meet(cluster, {{}}, wait_seconds=2, say_every_seconds=0.5)
"""
    with start_tasks(python(lines), workers=2) as running:
        return next(task for task in running if task.task != absent).wait(30)


@pytest.mark.parametrize(
    ("absent", "present"), [("worker 0", "worker 1"), ("worker 1", "worker 0")]
)
def test_a_task_that_never_starts_is_named(absent, present):
    result = missing(absent)
    assert result.returncode == 75
    assert result.seconds < 8
    said = result.stderr.splitlines()
    assert f"tfdist: {present} has waited 1 of 2 s for {absent} at 127.0.0.1:" in result.stderr
    assert len(said) >= 3
    assert all(f"{absent} at 127.0.0.1:" in line for line in said)
    assert all("(refused, not started)" in line for line in said)
    assert said[-1].startswith(f"StartAgainError: {present} waited 2 s in vain for {absent} at ")


def test_a_port_that_answers_without_coming_is_told():
    own_port = 'socket.create_server(("", int(cluster.address(cluster.task).split(":")[1])))'
    result = missing("worker 1", f"held = {own_port}; time.sleep(20)")
    assert result.returncode == 75
    assert "(its port answers, but it has not come)" in result.stderr


def test_a_chief_that_hangs_up_is_told():
    own_port = 'socket.create_server(("", int(cluster.address(cluster.task).split(":")[1])))'
    hang_up = f"held = {own_port}\n    while True: held.accept()[0].close()"
    result = missing("worker 0", hang_up)
    assert result.returncode == 75
    assert "(it closed the connection)" in result.stderr or "(Connection reset" in result.stderr


def test_a_chief_that_is_not_tfdist_is_told():
    own_port = 'socket.create_server(("", int(cluster.address(cluster.task).split(":")[1])))'
    answer = f"held = {own_port}\n    while True: held.accept()[0].sendall(b'HTTP/1.1 400 no')"
    result = missing("worker 0", answer)
    assert result.returncode == 75
    assert "what answers there is not tfdist" in result.stderr


def test_a_task_that_comes_from_elsewhere_than_its_address_is_told():
    # It says hello, but nothing listens where the cluster says that it is.
    elsewhere = "mine = dial(cluster.chief); mine.send(hello(cluster, {})); time.sleep(20)"
    result = missing("worker 1", elsewhere)
    assert result.returncode == 75
    assert "(it has come from 127.0.0.1, but it is not reached: refused" in result.stderr


def test_an_unknown_name_is_told():
    jobs = {"worker": {0: "no-such-host.invalid:2222", 1: "other-host.invalid:2223"}}
    script = python("meet(cluster, {}, wait_seconds=1)")
    config = Cluster(jobs, Task("worker", 1)).tf_config()
    with hold_ports(1) as (port,):
        result = alone(script, config.replace("2223", str(port)))
    assert result.returncode == 75
    assert "worker 0 at no-such-host.invalid:2222 (its name is unknown)" in result.stderr


def alone(script, tf_config):
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": os.getcwd(), "TF_CONFIG": tf_config}
    return subprocess.run(
        [sys.executable, *script], env=env, capture_output=True, text=True, timeout=30
    )


def test_a_busy_port_is_named_with_its_owner():
    with hold_ports(2) as ports, socket.create_server(("127.0.0.1", ports[1])):
        jobs = {"worker": {index: f"127.0.0.1:{port}" for index, port in enumerate(ports)}}
        result = alone(python("meet(cluster, {})"), Cluster(jobs, Task("worker", 1)).tf_config())
    assert result.returncode == 75
    assert f"worker 1 cannot use its port {ports[1]}: process {os.getpid()} of " in result.stderr
    assert "end that process or give worker 1 another port." in result.stderr


FACTS = """
facts = {"python": "3", "flags": {"lr": 0.1, "sizes": [1, 2]}}
%s
meet(cluster, facts)
"""


def all_say(script, sentence, workers=3):
    ended = run_tasks(python(script), workers=workers, timeout_seconds=30)
    for result in ended:
        assert result.returncode == 2, ended
        assert f"UsageError: {sentence}" in result.stderr
        assert result.seconds < 8


def test_a_difference_in_facts_is_named_on_every_task():
    script = FACTS % 'if me == "worker 1": facts["flags"]["lr"] = 0.2'
    sentence = "flags.lr is 0.1 on worker 0 and 0.2 on worker 1; start every task with the same."
    all_say(script, sentence)


def test_a_missing_fact_is_named():
    script = FACTS % 'if me == "worker 2": facts["flags"] = {"lr": 0.1}'
    all_say(script, "flags.sizes is [1, 2] on worker 0 and absent on worker 2;")


def test_a_difference_in_the_cluster_is_named_before_all_have_come():
    # Worker 1 knows of two tasks and the chief of three: the third never comes.
    script = """
if me == "worker 2": sys.exit(2)
if me == "worker 1":
    config = json.loads(os.environ["TF_CONFIG"])
    del config["cluster"]["worker"][2]
    cluster = resolve({"TF_CONFIG": json.dumps(config)})
import tfdist.cluster.host
tfdist.cluster.host._LATECOMERS_SECONDS = 1
meet(cluster, {})
"""
    ended = run_tasks(python(script), workers=3, timeout_seconds=30)
    assert [result.returncode for result in ended] == [2, 2, 2], ended
    for result in ended[:2]:
        assert "UsageError: cluster.worker.2 is " in result.stderr
        assert " on worker 0 and absent on worker 1; start every task" in result.stderr


def test_two_processes_that_are_the_same_task_are_refused():
    script = """
if me == "worker 2":
    cluster = resolve({"TF_CONFIG": os.environ["TF_CONFIG"].replace('"index": 2', '"index": 1')})
    connection = dial(cluster.chief)
    connection.send(hello(cluster, {}))
    time.sleep(20)
import tfdist.cluster.host
tfdist.cluster.host._LATECOMERS_SECONDS = 1
meet(cluster, {})
"""
    with start_tasks(python(script), workers=3) as running:
        ended = wait_all(running[:2], 30)
    for result in ended:
        assert result.returncode == 2, ended
        assert "two processes say that they are worker 1, the second one at 127.0" in result.stderr


def test_strangers_at_the_port_do_no_harm():
    script = """
if me == "worker 1":
    silent = dial(cluster.chief)
    for nonsense in (b"GET / HTTP/1.1\\r\\n", b"\\0\\0\\0\\2[]", b"\\0\\0\\0\\x08{\\"a\\": 1}"):
        dial(cluster.chief)._socket.sendall(nonsense)
meet(cluster, {}).gather("end", None)
"""
    ended = run_tasks(python(script), workers=2, timeout_seconds=30)
    assert [result.returncode for result in ended] == [0, 0], ended


def test_a_task_that_leaves_before_all_have_come_can_come_again(tmp_path):
    script = f"""
if me == "worker 1":
    before = dial(cluster.chief)
    before.send(hello(cluster, {{}}))
    before.fill()
    before.close()
    open("{tmp_path}/left", "w")
if me == "worker 2":
    while not os.path.exists("{tmp_path}/left"): time.sleep(0.02)
meet(cluster, {{}}).gather("end", None)
"""
    ended = run_tasks(python(script), workers=3, timeout_seconds=30)
    assert [result.returncode for result in ended] == [0, 0, 0], ended


PORTS = """
from tfdist.cluster.ports import hold_port
channel = meet(cluster, {})
with hold_port(cluster.task, cluster.address(cluster.task)):
    print(channel.gather("port", cluster.address(cluster.task)) == [
        cluster.address(task) for task in cluster.members])
"""


def test_the_ports_are_free_after_the_meeting_and_the_channel_lives_on():
    ended = run_tasks(python(PORTS), workers=3, timeout_seconds=30)
    assert [result.stdout for result in ended] == ["True\n"] * 3, ended


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, -15), (signal.SIGINT, -2)])
@pytest.mark.parametrize("waiting", [0, 1])
def test_a_signal_ends_the_wait_at_once(number, code, waiting):
    script = "sys.excepthook = sys.__excepthook__\n"
    script += f"if me != 'worker {waiting}': sys.exit()\nmeet(cluster, {{}}, say_every_seconds=0.2)"
    with start_tasks(python(script), workers=2) as running:
        while "has waited" not in running[waiting].output()[1]:
            time.sleep(0.02)
            assert running[waiting].process.poll() is None
        running[waiting].kill(number)
        before = time.monotonic()
        result = running[waiting].wait(10)
    assert result.returncode == code
    assert time.monotonic() - before < 2


JOBS = {"worker": {0: "h1:1", 1: "h2:1"}}


@pytest.mark.parametrize(
    "cluster",
    [Cluster(), Cluster({"worker": {0: "h1:1"}}), Cluster(JOBS, Task("evaluator", 0))],
)
def test_who_has_no_others_does_not_wait(cluster):
    channel = meet(cluster, {}, wait_seconds=0)
    assert channel.gather("key", 5) == [5]
    assert channel.wait_finish() == 0
    channel.finish(0)
    channel.close()
