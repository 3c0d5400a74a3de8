"""TF_CONFIG: everything that is accepted, and everything that is refused with its sentence."""

import json
from contextlib import suppress

import pytest

from tfdist.cluster import Task
from tfdist.cluster.environments.tf_config import parse
from tfdist.errors import UsageError

TWO = {"worker": ["h1:1", "h2:1"]}
PS = {"chief": ["h1:1"], "worker": ["h2:1", "h3:1"], "ps": ["h4:1"]}


def text(cluster=TWO, task="worker", index=0, **more):
    return json.dumps({"cluster": cluster, "task": {"type": task, "index": index}, **more})


ACCEPTED = {
    "two workers": (text(), Task("worker", 0), TWO),
    "string index": (text(index="1"), Task("worker", 1), TWO),
    "environment key": (text(environment="cloud"), Task("worker", 0), TWO),
    "job and rpc_layer keys": (text(job={"scale": 1}, rpc_layer="grpc"), Task("worker", 0), TWO),
    "trial in task": (
        json.dumps({"cluster": TWO, "task": {"type": "worker", "index": 1, "trial": "3"}}),
        Task("worker", 1),
        TWO,
    ),
    "sparse workers": (
        text({"worker": {"10": "h3:1", "2": "h2:1"}}, index=10),
        Task("worker", 10),
        {"worker": {"2": "h2:1", "10": "h3:1"}},
    ),
    "worker dict without gaps": (
        text({"worker": {"1": "h2:1", "0": "h1:1"}}),
        Task("worker", 0),
        TWO,
    ),
    "master": (
        text({"master": ["h1:1"], "worker": ["h2:1"]}, "master"),
        Task("chief", 0),
        {"chief": ["h1:1"], "worker": ["h2:1"]},
    ),
    "evaluator inside": (
        text({**TWO, "evaluator": ["h3:1"]}, "evaluator"),
        Task("evaluator", 0),
        {**TWO, "evaluator": ["h3:1"]},
    ),
    "evaluator outside": (text(task="evaluator", index=1), Task("evaluator", 1), TWO),
    "chief alone": (text({"chief": ["h1:1"]}, "chief"), Task("chief", 0), {"chief": ["h1:1"]}),
    "parameter servers": (text(PS, "ps"), Task("ps", 0), PS),
    "empty list of ps": (text({**TWO, "ps": []}), Task("worker", 0), TWO),
    "one host, all loopback": (
        text({"worker": ["localhost:1", "127.0.0.1:2", "[::1]:3"]}),
        Task("worker", 0),
        {"worker": ["localhost:1", "127.0.0.1:2", "[::1]:3"]},
    ),
    "IPv6": (
        text({"worker": ["[2001:db8::1]:1", "[2001:db8::2]:1"]}),
        Task("worker", 0),
        {"worker": ["[2001:db8::1]:1", "[2001:db8::2]:1"]},
    ),
    "names of containers": (
        text({"worker": ["my_app-1.ns.svc:1", "my_app-2.ns.svc.:1"]}),
        Task("worker", 0),
        {"worker": ["my_app-1.ns.svc:1", "my_app-2.ns.svc.:1"]},
    ),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(name):
    config, task, jobs = ACCEPTED[name]
    cluster = parse(config)
    assert cluster.task == task
    expected = {"cluster": jobs, "task": {"type": task.type, "index": task.index}}
    assert json.loads(cluster.tf_config()) == expected
    assert parse(cluster.tf_config()).tf_config() == cluster.tf_config()


def test_master_is_noted():
    cluster = parse(text({"master": ["h1:1"], "worker": ["h2:1"]}))
    assert cluster.notes == ('TF_CONFIG names a "master": it is the chief here.',)
    assert cluster.chief == Task("chief", 0)
    assert parse(text()).notes == ()


def one(address):
    return text({"worker": [address, "h9:9"]})


REFUSED = {
    "empty": ("", "TF_CONFIG: it is empty; unset it"),
    "blank": (" \n", "it is empty; unset it"),
    "empty object": ("{}", "it is empty; unset it"),
    "not JSON": ("worker:h1", "it is not JSON, expecting value at character 1; write it like {"),
    "cut off": (text()[:-1], "it is not JSON, expecting ',' delimiter at character"),
    "single quotes": (text().replace('"', "'"), "single quotes where JSON has double quotes"),
    "in single quotes": (f"'{text()}'", "single quotes where JSON has double quotes"),
    "encoded twice": (json.dumps(text()), "it is text; it must be an object, like {"),
    "a list": ("[1]", "it is a list; it must be an object"),
    "null": ("null", "it is null; it must be an object"),
    "a key twice": (
        '{"task": 1, "task": 2}',
        "it has the key 'task' twice in one object; keep",
    ),
    "no task": (json.dumps({"cluster": TWO}), 'it has no task; add "task": {"type": "worker"'),
    "empty task": (json.dumps({"cluster": TWO, "task": {}}), "it has no task; add"),
    "task is text": (json.dumps({"cluster": TWO, "task": "worker"}), "task is text; it must be an"),
    "task without type": (json.dumps({"cluster": TWO, "task": {"index": 0}}), "task has no type"),
    "task without index": (json.dumps({"cluster": TWO, "task": {"type": "ps"}}), "has no index"),
    "type is a number": (text(task=1), "the task's type is a number; it must be text"),
    "no cluster": (
        json.dumps({"task": {"type": "worker", "index": 0}}),
        "no cluster with an address in it; unset it to use this machine alone",
    ),
    "empty cluster": (text({}), "no cluster with an address in it"),
    "empty lists": (text({"worker": []}), "no cluster with an address in it"),
    "cluster is a list": (text(["h1:1"]), "cluster is a list; it must be an object"),
    "sparseCluster": (
        text(sparseCluster={}),
        "it has the unknown key 'sparseCluster'; the keys are cluster, task, environment",
    ),
    "unknown key of task": (
        json.dumps({"cluster": TWO, "task": {"type": "worker", "idx": 0}}),
        "task has the unknown key 'idx'; the keys are type, index",
    ),
    "unknown job": (text({"workers": ["h1:1"]}), "has a job 'workers'; the jobs are chief, worker"),
    "type not in the cluster": (
        text(task="chief"),
        "the task's type is 'chief' and the cluster has worker; name one of these",
    ),
    "unknown type": (text(task="w"), "the task's type is 'w' and the cluster has worker"),
    "index too large": (
        text(index=2),
        "the task's index is 2 and the cluster's worker indices are 0, 1; use one of these",
    ),
    "index negative": (text(index=-1), "the task's index is -1 and the cluster's worker indices"),
    "index in a gap": (
        text({"worker": {"0": "h1:1", "2": "h2:1"}}, index=1),
        "the task's index is 1 and the cluster's worker indices are 0, 2",
    ),
    "index is a word": (text(index="one"), 'index is "one"; it must be a whole number, 0 or more'),
    "index is a fraction": (text(index=0.5), "the task's index is 0.5; it must be a whole number"),
    "index is true": (text(index=True), "the task's index is true; it must be a whole number"),
    "index is null": (text(index=None), "the task's index is null; it must be a whole number"),
    "evaluator's index negative": (text(task="evaluator", index=-1), "index is -1; an index is 0"),
    "sparse index is a word": (text({"worker": {"a": "h1:1"}}), 'worker\'s index is "a"; it must'),
    "sparse index negative": (
        text({"worker": {"-1": "h1:1"}}),
        "worker has the index -1; an",
    ),
    "sparse index twice": (
        text({"worker": {"1": "h1:1", "01": "h2:1"}}, index=1),
        "two worker indices are the same number; keep one of them",
    ),
    "two chiefs": (text({"chief": ["h1:1", "h2:1"]}, "chief"), "two chiefs; keep one and make"),
    "chief and master": (
        text({"chief": ["h1:1"], "master": ["h2:1"]}, "chief"),
        "two chiefs, a master being one; keep one of them",
    ),
    "two masters": (text({"master": ["h1:1", "h2:1"]}, "master"), "two chiefs, a master being one"),
    "ps without worker": (
        text({"chief": ["h1:1"], "ps": ["h2:1"]}, "ps"),
        'ps but no worker to train; add a "worker" list',
    ),
    "ps without chief": (
        text({"worker": ["h1:1"], "ps": ["h2:1"]}),
        'ps but no chief to coordinate; add a "chief" list of one address',
    ),
    "ps alone": (text({"ps": ["h1:1"]}, "ps"), "ps but no worker to train"),
    "evaluator alone": (
        text({"evaluator": ["h1:1"]}, "evaluator"),
        'no task that trains; add a "worker" list',
    ),
    "addresses are text": (text({"worker": "h1:1"}), "worker is text; it must be a list of host"),
    "address is a number": (one(1), "the address of worker 0 is a number; it must be text"),
    "same address": (
        text({"worker": ["h1:1", "H1.:1"]}),
        "worker 0 and worker 1 have the same address H1.:1; give each its own host:port",
    ),
    "same address, two spellings": (
        text({"worker": ["localhost:1", "127.0.0.1:1"]}),
        "worker 0 and worker 1 have the same address",
    ),
    "same IPv6 address": (text({"worker": ["[::1]:1", "[0::1]:1"]}), "have the same address"),
    "same address in two jobs": (
        text({"chief": ["h1:1"], "worker": ["h1:1"]}, "chief"),
        "chief 0 and worker 0 have the same address h1:1",
    ),
    "no port": (one("h1"), "the address 'h1' of worker 0 has no port; write it as host:port"),
    "empty address": (one(""), "the address '' of worker 0 has no port; write it as host:port"),
    "empty port": (one("h1:"), "has no port; write it as host:port"),
    "no host": (one(":1"), "the address ':1' of worker 0 has no host; write it as host:port"),
    "port 0": (one("h1:0"), "has the port 0; a port is a number from 1 to 65535"),
    "port too large": (one("h1:65536"), "has the port 65536; a port is a number from 1 to 65535"),
    "port is a word": (one("h1:http"), "has the port 'http'; a port is a number from 1 to 65535"),
    "port is negative": (one("h1:-1"), "has the port '-1'; a port is a number from 1 to 65535"),
    "scheme": (one("grpc://h1:1"), "has a scheme; write it as host:port without one"),
    "user": (one("me@h1:1"), "has a user; write it as host:port without one"),
    "path": (one("h1/x:1"), "has characters that no host name has; write it as host:port"),
    "space": (one("h 1:1"), "has characters that no host name has"),
    "wildcard": (
        one("0.0.0.0:1"),
        "is no address that others can reach; write the host's",
    ),
    "IPv6 wildcard": (one("[::]:1"), "is no address that others can reach"),
    "IPv6 without brackets": (
        one("2001:db8::1:2222"),
        "is IPv6 without brackets; write it as [2001:db8::1:2222]:port or [2001:db8::1]:2222",
    ),
    "IPv6 with half a bracket": (one("[2001:db8::1:2222"), "is IPv6 without brackets; write it as"),
    "no IPv6 in brackets": (one("[h1]:1"), "has no IPv6 address in its brackets"),
    "loopback among hosts": (
        text({"worker": ["localhost:1", "h2:1"]}),
        "the address localhost:1 of worker 0 means another machine on each host, and worker 1 is "
        "at h2:1; write the name by which the other hosts reach worker 0",
    ),
    "IPv6 loopback among hosts": (one("[::1]:1"), "means another machine on each host"),
    "127 among hosts": (one("127.0.1.1:1"), "means another machine on each host"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    config, message = REFUSED[name]
    with pytest.raises(UsageError) as caught:
        parse(config)
    said = str(caught.value)
    assert message in said
    assert said.startswith("TF_CONFIG: ")
    assert said.endswith(".")
    assert ". " not in said, "one sentence"
    assert "\n" not in said


def test_no_short_text_does_more_than_refuse():
    whole = text(PS, "worker", "1", environment="cloud")
    for end in range(len(whole)):
        with suppress(UsageError):
            parse(whole[:end])
            raise AssertionError(whole[:end])
