"""Who holds what under each strategy, by hand."""

from dataclasses import replace

import pytest

from tfdist.memory.step import Line, Step
from tfdist.memory.tasks import STRATEGIES, Shape, tasks

STEP = Step(
    variables=100.0,
    slots=200.0,
    weights=90.0,
    largest=60.0,
    activations=Line(0, 10),
    gradients=Line(5, 1),
    batch=Line(0, 2),
    read=Line(50, 3),
    update=40.0,
)
SHAPE = Shape(devices=2, of_worker=2, workers=3, ps=2)


def held(strategy, rows=10, shape=SHAPE, step=STEP):
    return {each.name: each for each in tasks(step, strategy, rows, shape)}


def test_one_device_holds_all_of_it():
    (device,) = held("one_device")["process"].devices
    assert (device.variables, device.slots) == (100, 200)
    assert (device.activations, device.gradients, device.buffers) == (100, 15, 20)
    assert device.scratch == pytest.approx(0.07 * 115)
    assert held("one_device")["process"].host.buffers == 4 * 20


def test_the_first_device_adds_up_the_gradients_of_all():
    first, second = held("mirrored", rows=1)["process"].devices
    assert first.buffers - second.buffers == pytest.approx(3 * 90 - max(90, 10 + 6))
    assert second.slots == 200


def test_central_storage_keeps_variables_and_slots_once():
    found = held("central_storage")["process"]
    assert [(d.variables, d.slots) for d in found.devices] == [(100, 0)] * 2
    assert found.host.variables == 300
    alone = held("central_storage", shape=replace(SHAPE, devices=1))["process"]
    assert alone.total == held("one_device")["process"].total


def test_workers_hold_what_they_exchange():
    worker = held("multi_worker", rows=1)["worker"]
    assert worker.count == 3
    assert worker.devices[0].buffers == pytest.approx(2 + 3 * 90 + 2 * 90 - 16)


def test_parameter_servers_share_but_no_variable():
    found = held("parameter_server")
    ps, worker = found["ps"], found["worker"].devices
    assert (ps.count, ps.host.variables) == (2, 150)
    assert ps.total == 150 + (3 * 90 + 40) / 2  # the gradients of three workers, and one update
    assert [(d.variables, d.slots, d.activations) for d in worker] == [(0, 0, 50 + 3 * 10)] * 2
    many = held("parameter_server", shape=replace(SHAPE, ps=100))["ps"]
    assert many.host.variables == pytest.approx(60)  # the largest is on one of them


def test_examples_that_have_no_numbers_are_read_by_every_worker():
    own = held("multi_worker")["worker"].host.buffers
    step = replace(STEP, reads_all=True, shuffled=7.0)
    assert held("multi_worker", step=step)["worker"].host.buffers == 3 * own + 7


def test_rows_of_the_fullest_replica():
    found = {name: SHAPE.rows(name, 13) for name in STRATEGIES}
    assert found == {
        "one_device": 13,
        "mirrored": 7,
        "multi_worker": 3,
        "central_storage": 7,
        "parameter_server": 7,
    }
