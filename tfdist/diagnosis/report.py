"""What the doctor has found, as plain values."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from tfdist.cluster import Cluster
from tfdist.diagnosis.finding import FAIL, Finding
from tfdist.diagnosis.wires import Wire
from tfdist.errors import EXIT_DONE, EXIT_FAILED


@dataclass(frozen=True)
class Told:
    """What the doctor in one task tells.

    Attributes:
        task: Its name.
        host: Name, cores and memory of its host.
        devices: What TensorFlow sees; None when it cannot be loaded.
        findings: Of its checks.
        wires: From it to the other tasks.
    """

    task: str
    host: Mapping[str, Any]
    devices: Mapping[str, Any] | None
    findings: tuple[Finding, ...]
    wires: tuple[Wire, ...] = ()


def from_plain(value: Mapping[str, Any]) -> Told:
    """What another task has told, as JSON."""
    findings = tuple(Finding(**each) for each in value["findings"])
    wires = tuple(Wire(**each) for each in value["wires"])
    return Told(value["task"], value["host"], value["devices"], findings, wires)


@dataclass(frozen=True)
class Report:
    """Whether a training would run, and what stands in its way.

    Attributes:
        cluster: Where this process is.
        strategy: The name of the one that would be chosen; None when none fits.
        reason: Why that one, or why none.
        refused: Why not each of the others.
        told: By each task whose doctor has come, this one's among them.
        unseen: What could not be looked at from here, sentences.
    """

    cluster: Cluster
    strategy: str | None
    reason: str
    refused: Mapping[str, str]
    told: Sequence[Told]
    unseen: Sequence[str] = field(default=())

    @property
    def is_well(self) -> bool:
        """Whether nothing fails."""
        return not any(each.status == FAIL for told in self.told for each in told.findings)

    @property
    def exit_code(self) -> int:
        """0 when nothing fails, else 1."""
        return EXIT_DONE if self.is_well else EXIT_FAILED

    def as_json(self) -> str:
        """The report as one JSON object."""
        cluster = json.loads(self.cluster.tf_config())
        origins = {"source": self.cluster.source, "origins": dict(self.cluster.origins)}
        chosen = {"name": self.strategy, "reason": self.reason, "refused": dict(self.refused)}
        return json.dumps(
            {
                **{"cluster": {**cluster, **origins}, "strategy": chosen},
                **{"told": [asdict(each) for each in self.told], "unseen": list(self.unseen)},
                "is_well": self.is_well,
            }
        )

    def __str__(self) -> str:
        from tfdist.diagnosis.table import show

        return show(self)
