"""Each row of the table of faults, run against real processes, several at a time."""

import contextlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.faults.row import differences, run
from tests.faults.table import TABLE
from tests.launch.network import network, require

# A row waits more than it computes, but its start takes a core for each task.
_AT_ONCE = 3


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    require()  # two hosts and a disk are made
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        futures = {row.name: pool.submit(_run, row, tmp_path_factory) for row in TABLE}
        yield futures
        pool.shutdown(cancel_futures=True)


def _run(row, folders):
    with contextlib.ExitStack() as made:
        hosts = made.enter_context(network(folders.mktemp("network"))) if row.cut else None
        disk = made.enter_context(_small_disk(folders.mktemp("disk"))) if row.needs_disk else None
        return run(row, hosts, disk)


@contextlib.contextmanager
def _small_disk(folder):
    words = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    subprocess.run(words, check=True, timeout=20)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True, timeout=20)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_a_fault_ends_all_tasks_in_time_with_its_cause(row, outcomes):
    outcome = outcomes[row.name].result()
    sys.stdout.write(f"{row.name}: {outcome.seconds:.1f} of {row.seconds} s\n")
    assert differences(row, outcome) == []
