"""What does a device hold that computes a step of one replica? Pure arithmetic."""

from __future__ import annotations

from dataclasses import asdict, dataclass

# What kernels take besides their results, and gradients that wait for their turn, are in no graph:
# they were 2 to 15 % of what steps of CNNs, ResNets and MobileNets were measured to hold.
_SCRATCH = 0.07


@dataclass(frozen=True)
class Need:
    """What one device holds at the peak of a step, in bytes.

    Attributes:
        variables: Weights and other state of the model; on a host or a ps task with the slots.
        slots: Variables of the optimizer.
        activations: Results that the gradient still needs, and those of the moment.
        gradients: Of activations and weights, as many as are there at that moment.
        scratch: What kernels take besides, by experience.
        buffers: Examples and batches, and what the exchange of gradients takes besides.
    """

    variables: float = 0
    slots: float = 0
    activations: float = 0
    gradients: float = 0
    scratch: float = 0
    buffers: float = 0

    @property
    def total(self) -> float:
        """All of it."""
        return sum(asdict(self).values())


NOTHING = Need()


@dataclass(frozen=True)
class Line:
    """A number that grows with the rows of a replica: `fixed + rows * each`."""

    fixed: float
    each: float

    def at(self, rows: int) -> float:
        """Its value for so many rows."""
        return self.fixed + self.each * rows


def line(first: tuple[int, float], second: tuple[int, float]) -> Line:
    """Return the line through two values, (rows, value) each."""
    each = (second[1] - first[1]) / (second[0] - first[0])
    return Line(first[1] - each * first[0], each)


@dataclass(frozen=True)
class Step:
    """What a step of one replica holds, in bytes.

    Attributes:
        variables: As in `Need`.
        slots: Likewise.
        weights: Trainable weights, which is also what their gradient takes.
        largest: The largest variable, which a ps task cannot share with another.
        activations: At the peak, by rows.
        gradients: Likewise.
        batch: The input, by rows.
        read: What a worker holds that reads its variables from ps tasks, at the peak, by rows.
        update: What an update of all variables takes besides the gradients.
        shuffled: Examples that wait to be drawn, in bytes.
        reads_all: Whether each worker reads whole global batches, for want of numbered examples.
    """

    variables: float
    slots: float
    weights: float
    largest: float
    activations: Line
    gradients: Line
    batch: Line
    read: Line = Line(0, 0)
    update: float = 0
    shuffled: float = 0
    reads_all: bool = False


def reading(step: Step, rows: int) -> Need:
    """Return what a worker's device holds that reads its variables from ps tasks."""
    held = step.read.at(rows)
    return Need(activations=held, scratch=_SCRATCH * held, buffers=step.batch.at(rows))


def keeping(step: Step, ps: int, workers: int) -> Need:
    """Return what the fullest of the ps tasks holds while every worker's gradient arrives."""
    every = step.variables + step.slots
    share = max(1 / ps, step.largest / every if every else 0)
    return Need(
        variables=share * every,
        gradients=share * workers * step.weights,
        activations=share * step.update,
    )


def computing(step: Step, rows: int, slots: float | None = None, after: float = 0) -> Need:
    """Return what a device holds that computes so many rows.

    Args:
        step: Of one replica.
        rows: On this device.
        slots: Of the optimizer, if not all of them.
        after: What is held once all gradients are there, instead of activations.
    """
    activations, gradients = step.activations.at(rows), step.gradients.at(rows)
    more = max(0.0, after - activations - gradients)
    return Need(
        variables=step.variables,
        slots=step.slots if slots is None else slots,
        activations=activations,
        gradients=gradients,
        scratch=_SCRATCH * (activations + gradients),
        buffers=step.batch.at(rows) + more,
    )
