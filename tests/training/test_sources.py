"""Two workers on every kind of data: each example once, and the numbers of one device."""

import json

from tests.processes import run_tasks


def test_two_workers_have_the_numbers_of_one_device():
    results = run_tasks(["-m", "tests.training.sources"], timeout_seconds=300)
    for result in results:
        assert result.returncode == 0, result.stderr
    first, second = ([json.loads(line) for line in each.stdout.splitlines()] for each in results)
    assert first == second
    assert len(first) == 14
    read = {each["case"]: each["read"] for each in first if "read" in each}
    assert read == {
        "TFDS": [[707], [730]],
        "TFRecord 1": [[18], [19]],
        "TFRecord 3": [[18], [19]],
    }
