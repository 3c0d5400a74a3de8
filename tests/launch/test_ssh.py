"""Tasks on two hosts by OpenSSH: two network namespaces with an sshd in each."""

import json
import re
import signal
import subprocess
from pathlib import Path

import psutil
import pytest

from tests.launch import training
from tests.launch.launching import DEAF, ROLE, environment, launched, left, words
from tests.launch.network import network, require
from tests.launch.training import TRAIN
from tfdist.errors import UsageError
from tfdist.launch.ssh import ssh_host

WHERE = (
    ROLE
    + """
import socket, subprocess
own = subprocess.run(["ip", "-4", "-o", "address"], capture_output=True, text=True).stdout
config = json.loads(os.environ["TF_CONFIG"])
host, port = config["cluster"]["worker"][task["index"]].split(":")
socket.create_server(("", int(port)))
print(f"{host in own} {os.getcwd()} {os.environ.get('TF_X')} {os.environ.get('MINE')}")
"""
)


@pytest.fixture(scope="module")
def hosts(tmp_path_factory):
    with network(tmp_path_factory.mktemp("network")) as made:
        yield made


def by_ssh(hosts, code, *flags, command=None, timeout=60, env=None):
    flags = ["--hosts=first,second", f"--ssh={hosts.ssh}", *flags]
    command = [*hosts.outside, *(command or words(code, *flags))]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=timeout, env=environment(env)
    )


def test_each_host_has_its_tasks_with_folder_and_variables(hosts, tmp_path):
    env = {"TF_X": "1", "MINE": "2"}
    done = by_ssh(hosts, WHERE, "--pass_env=MINE", env=env)
    folder = re.escape(str(Path.cwd()))
    assert done.returncode == 0, done.stderr
    said = sorted(done.stdout.splitlines())
    assert [bool(re.fullmatch(rf"\[worker {i}\] True {folder} 1 2", s)) for i, s in enumerate(said)]


def test_slots_and_base_port(hosts):
    code = "import os; print(os.environ['TF_CONFIG'])"
    flags = ["--hosts=first:2,second", "--base_port=23000", "--role=chief"]
    done = by_ssh(hosts, code, *flags)
    cluster = json.loads(done.stdout.removeprefix("[worker 0] "))["cluster"]
    one, two = hosts.addresses
    assert cluster == {"worker": [f"{one}:23000", f"{one}:23001", f"{two}:23000"]}


@pytest.mark.parametrize(
    ("end", "code", "said"),
    [
        ("sys.exit(3)", 3, "exit code 3"),
        ("sys.exit(-1)", 255, "exit code 255"),
        ("os.kill(os.getpid(), 9)", 137, "killed by SIGKILL"),
    ],
)
def test_the_first_failure_is_told_with_its_host(hosts, end, code, said):
    script = ROLE + f"if ROLE == 'worker 0': time.sleep(600)\nprint('last', flush=True)\n{end}"
    done = by_ssh(hosts, script)
    assert done.returncode == code
    assert f"[launcher] worker 1 on second failed: {said}" in done.stderr
    assert "[launcher]   | last" in done.stderr


def deaf(hosts, *flags):
    flags = ["--hosts=first,second", f"--ssh={hosts.ssh}", "--grace_seconds=0.5", *flags]
    return launched(DEAF, *flags, pids=2, before=hosts.outside)


def test_a_killed_launcher_leaves_nothing_on_the_hosts(hosts):
    with deaf(hosts) as (launcher, tasks):
        launcher.kill()
        assert left(tasks) == []


def test_ctrl_c_leaves_nothing_on_the_hosts(hosts):
    with deaf(hosts) as (launcher, tasks):
        launcher.send_signal(signal.SIGINT)
        assert launcher.wait(20) == 130
        assert left(tasks) == []


def test_a_killed_ssh_leaves_nothing_on_the_hosts(hosts):
    with deaf(hosts) as (launcher, tasks):
        clients = [each for each in psutil.Process(launcher.pid).children() if each.name() == "ssh"]
        assert len(clients) == 2
        clients[1].kill()
        assert launcher.wait(20) == 137
        assert left(tasks) == []


def test_a_training_on_two_hosts_has_the_numbers_of_one_device(hosts):
    command = words("", "--hosts=first,second", f"--ssh={hosts.ssh}", "--role=chief")[:-2]
    done = by_ssh(hosts, "", command=[*command, *TRAIN], timeout=150)
    assert done.returncode == 0, done.stderr
    training.check(done.stdout)


def test_a_host_that_does_not_answer_is_named(hosts):
    hosts_flag = "--hosts=first,10.77.0.9"
    done = by_ssh(hosts, "", hosts_flag)
    assert done.returncode == 75
    assert "worker 1 cannot be started on 10.77.0.9 (ssh: connect to host 10.77.0.9" in done.stderr
    assert "true`, which must work without a question" in done.stderr


def test_wrong_words_for_ssh():
    with pytest.raises(UsageError, match="--ssh is 'no-ssh', which is no program here: install"):
        ssh_host("first", "no-ssh")


def test_a_name_that_ssh_does_not_understand():
    require()
    with pytest.raises(UsageError, match="the host 'first' is not understood by ssh -F /none"):
        ssh_host("first", "ssh -F /none")


def test_ranks_on_two_hosts_tell_each_other_their_addresses(hosts):
    code = "from tfdist.cluster import resolve; c = resolve(); print(c.source, c.tf_config())"
    done = by_ssh(hosts, code, "--transport=mpi")
    assert done.returncode == 0, done.stderr
    said = sorted(line for line in done.stdout.splitlines() if " MPI {" in line)
    clusters = [json.loads(line.partition(" MPI ")[2]) for line in said]
    assert [each["task"]["index"] for each in clusters] == [0, 1]
    assert clusters[0]["cluster"] == clusters[1]["cluster"]
    names = [address.partition(":")[0] for address in clusters[0]["cluster"]["worker"]]
    assert names == ["first", "second"]
