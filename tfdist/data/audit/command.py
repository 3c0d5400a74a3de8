"""An audit as a command: in this process alone, or as one of the tasks of a cluster."""

from __future__ import annotations

import sys
from dataclasses import asdict

import tfdist
from tfdist import names
from tfdist.cluster import Cluster, meet
from tfdist.data import Source, load, own
from tfdist.data.audit.declared import audit_declared, audit_declared_with
from tfdist.data.audit.findings import Findings
from tfdist.data.audit.report import report
from tfdist.data.audit.tasks import audit, audit_with
from tfdist.data.loading import is_of_files
from tfdist.data.per_worker import PerWorker
from tfdist.data.settings import Settings
from tfdist.errors import EXIT_DONE, EXIT_FAILED, UsageError
from tfdist.run.loading import load_tensorflow

_OWN = ("data_dir", "cache")  # What may differ from task to task.


def run(settings: Settings, cluster: Cluster) -> int:
    """Audit a dataset and print the report, on the chief alone; return the exit code.

    Raises:
        UsageError: the flags do not fit, or the data cannot be read.
        StartAgainError: another task is lost or does not come in time.
    """
    if cluster.serves_only or cluster.is_evaluator:
        _write(f"tfdist: {cluster.task} reads no data, so that there is nothing to audit")
        return EXIT_DONE
    # Under parameter servers the chief reads all batches and deals them out.
    together = cluster.num_workers > 1 and not cluster.has_ps
    if together and settings.workers is not None:
        raise UsageError(
            f"--workers is {settings.workers}, and {cluster.source} describes a cluster of "
            f"{cluster.num_workers}: leave it out, or audit outside of the cluster"
        )
    load_tensorflow()
    declared = _declared(settings)
    if together:
        found = _in_cluster(settings, cluster, declared)
    elif declared is not None:
        found = audit_declared(declared, settings.workers or 1)
    else:
        found = audit(
            lambda: _load(settings),
            settings.order(),
            settings.workers or 1,
            settings.replicas_per_worker,
        )
    if cluster.is_chief:
        _write(report(settings.dataset, found))
    return EXIT_FAILED if found.faults else EXIT_DONE


def _in_cluster(settings: Settings, cluster: Cluster, declared: PerWorker | None) -> Findings:
    facts = {name: value for name, value in asdict(settings).items() if name not in _OWN}
    channel = meet(cluster, {"tfdist": tfdist.__version__, "audit": facts})
    try:
        rank = cluster.workers.index(cluster.task)
        if declared is not None:
            return audit_declared_with(channel, declared, rank, cluster.num_workers)
        size = cluster.num_workers, settings.replicas_per_worker
        return audit_with(channel, _load(settings), settings.order(), rank, *size)
    finally:
        channel.close()


def _declared(settings: Settings) -> PerWorker | None:
    """What the user's function declares as data of each worker, None when it does not."""
    if is_of_files(settings.dataset) or not names.is_function(settings.dataset):
        return None
    return own.declared(settings.dataset, settings.data_dir)


def _load(settings: Settings) -> Source:
    return load(settings.dataset, settings.data_dir, settings.reading())


def _write(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
