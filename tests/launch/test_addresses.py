"""Clusters of this machine."""

import socket

import pytest

from tfdist.cluster import Task
from tfdist.cluster.addresses import split_address
from tfdist.errors import StartAgainError, UsageError
from tfdist.launch import addresses
from tfdist.launch.addresses import loopback


def test_each_task_sees_the_same_cluster_from_its_place():
    clusters = loopback({"chief": 1, "worker": 2, "ps": 1})
    tasks = [Task("chief", 0), Task("worker", 0), Task("worker", 1), Task("ps", 0)]
    assert [each.task for each in clusters] == tasks
    assert all(each.jobs == clusters[0].jobs for each in clusters)
    places = {split_address(clusters[0].address(task)) for task in tasks}
    assert len(places) == 4
    assert {host for host, _ in places} == {"127.0.0.1"}


def test_no_tasks_are_one_process_without_a_cluster():
    (alone,) = loopback({})
    assert alone.is_local


def test_a_taken_port_is_passed_over(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken, socket.socket() as free:
        free.bind(("", 0))
        ports = [taken.getsockname()[1], free.getsockname()[1]]
        free.close()
        monkeypatch.setattr(addresses, "_PORTS", ports)
        monkeypatch.setattr(addresses.random.SystemRandom, "sample", lambda *_: ports)
        (cluster,) = loopback({"worker": 1})
    assert cluster.address(Task("worker", 0)) == f"127.0.0.1:{ports[1]}"


def test_too_few_ports_are_said(monkeypatch):
    with socket.create_server(("", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr(addresses, "_PORTS", [port])
        said = f"2 tasks need a port each and only 0 of {port} to {port} are free"
        with pytest.raises(StartAgainError, match=said):
            loopback({"worker": 2})


def test_an_impossible_cluster_is_refused():
    with pytest.raises(UsageError, match="ps but no worker"):
        loopback({"ps": 1})
