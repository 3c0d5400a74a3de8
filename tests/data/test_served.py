"""Other machines prepare the data: each example once, whoever asks for it."""

import signal
import time

import pytest
import tensorflow as tf

from tests.data.numbered import by_number
from tests.data.pictures import write_classes
from tests.processes import hold_ports, start_tasks
from tfdist.data import Reading, load
from tfdist.data.order import Order
from tfdist.data.served import served
from tfdist.data.service import main
from tfdist.errors import StartAgainError, UsageError


@pytest.fixture(scope="module")
def address():
    service = tf.data.experimental.service
    dispatcher = service.DispatchServer()
    place = dispatcher.target.removeprefix("grpc://")
    # A server that has worked ends no sooner than its next heartbeat, every 30 s by default.
    config = service.WorkerConfig(dispatcher_address=place, heartbeat_interval_ms=500)
    servers = [service.WorkerServer(config) for _ in range(2)]
    yield place
    del servers


def pictures(folder, **how):
    write_classes(folder, a=9, b=8, c=4)
    reading = Reading(image_size=(4, 5), validation_fraction=0, cache="none", **how)
    return load(f"folder:{folder}", reading=reading)


@pytest.mark.parametrize("drop", [False, True])
def test_two_workers_share_each_epoch(tmp_path, address, drop):
    order = Order(global_batch_size=8, drop_remainder=drop)
    data = served(pictures(tmp_path), order, None, address, f"run{drop}")
    for epoch in range(2):
        both = [iter(data.dataset(worker, 2, epoch)) for worker in range(2)]
        labels, sizes, going = [], [], True
        while going:
            found = [next(each, None) for each in both]
            going = any(batch is not None for batch in found)
            for x, y in filter(None, found):
                assert x.shape[1:] == (4, 5, 3)
                sizes.append(len(y))
                labels += y.numpy().tolist()
        assert sorted(sizes, reverse=True) == ([4, 4, 4, 4] if drop else [4, 4, 4, 4, 4, 1])
        if not drop:
            assert [labels.count(kind) for kind in range(3)] == [9, 8, 4]


def test_what_it_cannot_prepare_is_refused(tmp_path, address):
    order = Order(global_batch_size=5)
    with pytest.raises(UsageError, match="--data_service was given with 'numbers': other mach"):
        served(by_number(9), order, None, address, "run")
    lenient = pictures(tmp_path, max_bad_examples=1)
    with pytest.raises(UsageError, match="and --max_bad_examples: other machines prepare"):
        served(lenient, order, None, address, "run")
    data = served(pictures(tmp_path), order, None, address, "run")
    with pytest.raises(UsageError, match="2 workers share a global batch of 5: give one that 2"):
        data.dataset(0, 2, 0)
    with pytest.raises(UsageError, match="--data_service is 'here', which has no port"):
        served(pictures(tmp_path), order, None, "here", "run")
    with hold_ports(1) as (port,), pytest.raises(StartAgainError, match="no data service answers"):
        served(pictures(tmp_path), order, None, f"127.0.0.1:{port}", "run")


def test_the_command_serves_until_it_is_asked_to_end():
    with start_tasks(["-m", "tfdist.data.service"], workers=2) as running:
        deadline = time.monotonic() + 60
        while not all("train with --data_service=" in each.output()[0] for each in running):
            assert time.monotonic() < deadline, [each.output() for each in running]
            time.sleep(0.1)
        for each in running:
            each.kill(signal.SIGTERM)
        assert [each.wait(60).returncode for each in running] == [0, 0]


def test_it_needs_a_cluster(capsys):
    assert main([]) == 2
    assert capsys.readouterr().err.startswith("the data service runs in the tasks of a cluster")
    assert main(["--port=1"]) == 2
