"""What is measured, in which order, and how it is shown."""

import json
import re

import pytest

from tfdist import bench
from tfdist.errors import UsageError
from tfdist.timing import plot, report, rounds
from tfdist.timing.settings import Settings
from tfdist.timing.start import measure


def test_points_are_measured_in_alternating_order_and_medians_count():
    asked = []

    def run(kind, given, tasks, transport):
        asked.append((tasks, transport))
        return {"ms": float(len(asked))}

    found = rounds.rows("scaling", Settings(rounds=3), run)
    there = [(1, "none"), (2, "ring"), (2, "mpi")]
    assert asked == [*there, *reversed(there), *there]
    assert [row["ms"] for row in found] == [6, 5, 4]


def test_sizes_by_buckets_by_transports():
    settings = Settings(sizes="4K,1M", buckets="500K", rounds=1)
    found = rounds.rows("allreduce", settings, lambda *_: {"ms": 1.0})
    assert [(row["size"], row["bucket"], row["transport"]) for row in found] == [
        (4000, 500_000, "ring"),
        (4000, 500_000, "mpi"),
        (10**6, 500_000, "ring"),
        (10**6, 500_000, "mpi"),
    ]


def _row(tasks, rate, waited, exchange):
    shares = {"input": waited, "exchange": exchange, "computing": 1 - waited - exchange}
    return {
        "tasks": tasks, "strategy": "multi_worker", "transport": "ring",
        "ms_per_step": 2.0, "examples_per_second": rate,
    } | shares  # fmt: skip


def test_the_table_of_scaling_gives_efficiency_and_a_verdict():
    rows = [_row(1, 1000.0, 0.1, 0.0), _row(2, 1500.0, 0.0, 0.4), _row(4, 1000.0, 0.5, 0.1)]
    told = [line.split() for line in report.lines("scaling", rows)][1:]
    assert [line[5] for line in told] == ["100%", "75%", "25%"]
    assert [line[-1] for line in told] == ["compute-bound", "exchange-bound", "input-bound"]


def test_each_strategy_is_measured_and_multi_worker_by_each_transport():
    settings = Settings(strategies="mirrored,multi_worker", tasks=3, rounds=1)
    found = rounds.rows("scaling", settings, lambda *_: {"ms": 1.0})
    assert [(row["tasks"], row["strategy"], row["transport"]) for row in found[:4]] == [
        (1, "one_device", "none"),
        (2, "mirrored", "none"),
        (2, "multi_worker", "ring"),
        (2, "multi_worker", "mpi"),
    ]
    assert found[-1]["tasks"] == 3


def test_an_exchange_that_cannot_be_told_apart_is_left_open():
    row = _row(2, 1500.0, 0.0, 0.4) | {"exchange": None, "strategy": "mirrored"}
    told = list(report.lines("scaling", [_row(1, 1000.0, 0.1, 0.0), row]))[-1].split()
    assert told[-2:] == ["-", "compute-bound"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"tasks": 0}, "--tasks is 0, but must be above 0"),
        ({"transports": "ring,tcp"}, "--transports has tcp: give some of ring, mpi"),
        ({"strategies": "horovod"}, "--strategies has horovod: give some of multi_worker, mirror"),
        ({"sizes": "big"}, "--sizes is 'big': give numbers of bytes such as 4K,1M"),
    ],
)
def test_mistakes_are_one_sentence(wrong, said):
    with pytest.raises(UsageError, match=f"^{said}"):
        Settings(**wrong)


def test_what_is_to_be_measured_must_be_known(capsys):
    assert bench.main(["scalin"]) == 2
    assert "one of scaling, allreduce, loop; did you mean 'scaling'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["loop", "--json=/nowhere/a.json"], "--json is '/nowhere/a.json', and there is no such"),
        (["scaling", "--plot=a.txt"], "--plot is 'a.txt': give a name that ends in .png, .svg"),
        (
            ["scaling", "--json=/proc/a.json"],
            "--json is '/proc/a.json' (No such file or directory): give",
        ),
        (["loop", "--plot=a.png"], "--plot draws scaling, and loop was asked for"),
    ],
)
def test_a_result_that_could_not_be_kept_is_not_measured(capsys, words, said):
    assert bench.main(words) == 2
    assert capsys.readouterr().err.startswith(said)


def test_an_allreduce_between_two_real_tasks():
    given = {"seconds": 0.1, "size": 4000, "bucket": 1000}
    found = measure("allreduce", given, 2, "mpi")
    assert found["ms"] > 0
    assert found["raw_mpi_ms"] > 0
    assert found["bus_gb_per_s"] == pytest.approx(found["algorithm_gb_per_s"])


def test_the_loop_is_measured_beside_that_of_keras(capsys, tmp_path):
    file = tmp_path / "loop.json"
    words = ["loop", "--rounds=1", "--seconds=0.1", "--global_batch_size=8", f"--json={file}"]
    assert bench.main(words) == 0
    row = json.loads(file.read_text())["rows"][0]
    assert f"Keras' fit {row['keras']:.3g} ms" in capsys.readouterr().out


def test_efficiency_is_drawn_in_the_style_of_all_pictures(tmp_path):
    rows = [_row(1, 1000.0, 0.1, 0.0), _row(2, 1500.0, 0.0, 0.4), _row(4, 1000.0, 0.5, 0.1)]
    file = tmp_path / "scaling.svg"
    plot.draw([{**rows[0], "transport": "none"}, *rows[1:]], str(file))
    drawn = file.read_text()
    assert "efficiency" in drawn
    assert "ring" in drawn
    assert "none" not in re.findall(r"<!-- (.*?) -->", drawn)
