"""Traces of several tasks on one clock."""

import gzip
import json
from pathlib import Path

import pytest
from tensorflow.tsl.profiler.protobuf import xplane_pb2

from tfdist import timeline as door
from tfdist.progress.timeline import Event, merged, offsets

SUM = "while/CollectiveReduceV2:CollectiveReduceV2"


def sums(*ends, name=SUM):
    return [Event(name, "/host:CPU", "pool", end - 5.0, 5.0) for end in ends]


def test_clocks_are_set_by_the_ends_of_sums():
    tasks = {"a": sums(100, 200, 300), "b": sums(1100, 1203, 1300), "c": sums(50, 150)}
    assert offsets(tasks) == {"a": 0, "b": -1000, "c": 0}  # c lacks one: which is not known
    apart = {"a": sums(100), "b": sums(7, name="MatMul:MatMul")}
    assert offsets(apart) == {"a": 0, "b": 0}


def test_each_task_has_a_group_and_each_thread_a_line():
    tasks = {"worker-0": sums(2000, 3000), "worker-1": sums(902_000, 903_000)}
    tasks["worker-1"].append(Event("MatMul", "/host:CPU", "other", 902_500.0, 100.0))
    found = merged(tasks)["traceEvents"]
    names = [each["args"]["name"] for each in found if each["ph"] == "M"]
    assert names == ["worker-0 /host:CPU", "pool", "worker-1 /host:CPU", "pool", "other"]
    events = [each for each in found if each["ph"] == "X"]
    assert [(e["pid"], e["tid"]) for e in events] == [(1, 1), (1, 1), (2, 2), (2, 2), (2, 3)]
    assert [e["ts"] for e in events] == pytest.approx([0, 1, 0, 1, 0.505])  # microseconds


def write_trace(folder: Path, start: int) -> None:
    """Write what TensorFlow's profiler does, with one event 3 us behind the start."""
    space = xplane_pb2.XSpace()
    host, about = space.planes.add(name="/host:CPU"), space.planes.add(name="Task Environment")
    host.event_metadata[1].name = SUM
    line = host.lines.add(id=7, name="pool/7", timestamp_ns=1000)
    line.events.add(metadata_id=1, offset_ps=2_000_000, duration_ps=500_000)
    about.stat_metadata[1].name = "profile_start_time"
    about.stats.add(metadata_id=1, uint64_value=start)
    folder.mkdir(parents=True)
    (folder / "host.xplane.pb").write_bytes(space.SerializeToString())


def test_the_newest_traces_of_a_run_become_one_file(tmp_path, capsys):
    write_trace(tmp_path / "worker-0/plugins/profile/2026_01_01", 10**18)
    write_trace(tmp_path / "worker-0/plugins/profile/2026_01_02", 2 * 10**18)
    write_trace(tmp_path / "worker-1/plugins/profile/2026_01_02", 2 * 10**18 + 10**9)
    out = tmp_path / "all.json.gz"
    assert door.main([str(tmp_path), f"--out={out}"]) == 0
    assert capsys.readouterr().out == f"{out}: worker-0, worker-1\n"
    with gzip.open(out, "rt") as file:
        events = [e for e in json.load(file)["traceEvents"] if e["ph"] == "X"]
    assert [(e["name"], e["ts"], e["dur"]) for e in events] == [(SUM, 0, 0.5)] * 2


def test_a_folder_without_a_trace_is_told(tmp_path, capsys):
    assert door.main([str(tmp_path), f"--out={tmp_path}/t.json.gz"]) == 2
    assert "holds no trace: give the --log_dir of a run with --profile_steps" in (
        capsys.readouterr().err
    )
