"""The name of one process of a cluster."""

from dataclasses import dataclass

JOBS = ("chief", "worker", "ps", "evaluator")


@dataclass(frozen=True)
class Task:
    """One process of a cluster: its job ("chief", "worker", "ps", "evaluator") and index in it."""

    type: str
    index: int

    def __str__(self) -> str:
        return f"{self.type} {self.index}"
