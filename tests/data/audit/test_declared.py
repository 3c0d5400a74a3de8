"""Data of each worker's own: whether any example comes twice."""

import tensorflow as tf

from tfdist.data.__main__ import main
from tfdist.data.audit import audit_declared
from tfdist.data.audit.report import report
from tfdist.data.per_worker import per_worker

LENGTHS = (7, 0, 4)


def divided():
    """Parts of 7, 0 and 4 examples in batches of 3."""

    def own(context):
        first = 100 * context.worker
        return tf.data.Dataset.range(first, first + LENGTHS[context.worker]).batch(3)

    return per_worker(own)


def overlapping():
    return per_worker(lambda context: tf.data.Dataset.range(context.worker + 5).batch(3))


def test_parts_of_unequal_length():
    found = audit_declared(divided(), 3)
    assert found.faults == []
    assert report("parts", found).splitlines() == [
        "parts: 11 examples",
        "  worker 0    7 in 2 of 3, 1 of 1",
        "  worker 1    0 in none",
        "  worker 2    4 in 1 of 3, 1 of 1",
        "  seen twice  0",
        "verdict: no example is read twice",
    ]


def test_parts_that_overlap(capsys):
    name = f"{__name__}:overlapping"
    assert main(["--audit", f"--dataset={name}", "--workers=3"]) == 1
    told = capsys.readouterr().out
    assert "seen twice  6" in told
    assert "6 were read more than once; the workers' parts overlap: divide the data by" in told
    assert main(["--audit", f"--dataset={__name__}:divided", "--workers=3"]) == 0


def test_it_is_audited_outside_of_the_cluster(monkeypatch, capsys):
    cluster = '{"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 0}}'
    monkeypatch.setenv("TF_CONFIG", '{"cluster": ' + cluster)
    assert main(["--audit", f"--dataset={__name__}:divided"]) == 2
    assert "audited outside of the cluster: unset TF_CONFIG and give --workers=2" in (
        capsys.readouterr().err
    )
