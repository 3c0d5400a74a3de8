"""The demo: its table, its verdicts, what it shows when a run fails, and one real run."""

import sys

from tests.processes import run_alone
from tfdist import demo
from tfdist.cluster import Task
from tfdist.launch import Ended


def record(strategy, norm=20.0, accuracy=0.97):
    return {
        "strategy": strategy,
        "replicas": 2,
        "loss": 0.123456,
        "val_accuracy": accuracy,
        "examples_per_second": 12345.6,
        "weights_norm": norm,
    }


def test_the_table_has_a_line_for_each_record():
    assert demo.table([record("mirrored"), record("parameter_server", 100.5)]).splitlines() == [
        "strategy          replicas     loss  val_accuracy  examples/s  weights_norm",
        "mirrored                 2  0.12346        0.9700      12,346      20.00000",
        "parameter_server         2  0.12346        0.9700      12,346     100.50000",
    ]


def test_verdicts_of_equal_weights_and_good_accuracy():
    records = [
        record("one_device"),
        record("mirrored", 20.0001),
        record("multi_worker", 20.001),
        record("parameter_server", 30.0, accuracy=0.95),
    ]
    assert list(demo.verdicts(records)) == [
        (False, "validation accuracy above 0.95: not under parameter_server"),
        (True, "mirrored ends with the weights of one device: yes"),
        (False, "multi_worker ends with the weights of one device: no"),
    ]
    assert list(demo.verdicts([record("mirrored")])) == [
        (True, "validation accuracy above 0.95: yes, in each")
    ]


def test_every_strategy_is_in_it_each_with_the_tasks_it_needs():
    sizes = {name: sizes for name, (_, sizes) in demo.RUNS.items()}
    assert sizes == {
        "one_device": {},
        "mirrored": {},
        "central_storage": {},
        "multi_worker": {"worker": 2},
        "parameter_server": {"chief": 1, "worker": 2, "ps": 1},
    }


def test_a_failed_run_is_shown_with_all_its_output(monkeypatch, capsys):
    def run_local(command, sizes, heard, timeout_seconds):
        heard(Task("worker", 0), "stdout", "began")
        heard(Task("worker", 1), "stderr", "broke")
        return [Ended(Task("worker", 1), 3), Ended(Task("worker", 0), -15, was_stopped=True)]

    monkeypatch.setattr(demo, "run_local", run_local)
    assert demo.main(["multi_worker"]) == 1
    out, err = capsys.readouterr()
    assert "[worker 0] began\n" in out
    assert "multi_worker: worker 1 did not end well (code 3)\n" in out
    assert err == "[worker 1] broke\n"


def test_a_bad_result_is_not_a_success(monkeypatch, capsys):
    monkeypatch.setattr(demo, "_run", lambda name, *_: record(name, accuracy=0.5))
    assert demo.main(["mirrored"]) == 1
    assert "validation accuracy above 0.95: not under mirrored" in capsys.readouterr().out


def test_two_workers_for_real():
    done = run_alone(["-m", "tfdist.demo", "multi_worker"], timeout_seconds=200)
    assert done.returncode == 0, done
    assert "  multi_worker: 2 processes (2 worker) on cpu\n" in done.stdout
    assert done.stdout.endswith("\nvalidation accuracy above 0.95: yes, in each\n")


def test_imports_no_tensorflow():
    done = run_alone("import sys, tfdist.demo; print('tensorflow' in sys.modules)")
    assert done.stdout == "False\n"
    assert "tfdist.demo" in sys.modules
