"""Look at everything, in the order in which a training would meet it."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path

from tfdist.cluster import Channel, Cluster, meet, resolve
from tfdist.cluster.environments.tf_config import parse
from tfdist.diagnosis import (
    addresses,
    agreement,
    devices,
    folder,
    memory,
    network,
    numeric,
    port,
    proxies,
    reached,
    versions,
    wires,
)
from tfdist.diagnosis.finding import FAIL, Finding, fail, ok
from tfdist.diagnosis.report import Report, Told, from_plain
from tfdist.diagnosis.settings import Settings
from tfdist.diagnosis.wires import Wire
from tfdist.errors import StartAgainError, UsageError
from tfdist.factory import Devices, choose

# Longer than the slowest thing that another task may be at: to train with --numeric.
_CALL_SECONDS = 600


def diagnose(settings: Settings, show: Callable[[Report], None]) -> Report:
    """Look at this task, and at the way to the others as far as their doctors come.

    Args:
        settings: What is examined.
        show: Called with the report; among several tasks on the chief alone, while the others wait.

    Raises:
        UsageError: the file with the cluster cannot be read.
    """
    cluster, found = _find(settings.tf_config)
    host = memory.this_host()
    findings = [found, *_alone(cluster), *memory.check(host, cluster)]
    channel, why_alone = _meet(cluster, settings.wait_seconds)
    told = Told(str(cluster.task), asdict(host), None, ())
    everybody: list[Told] = []
    try:
        told = _examine(cluster, channel, settings, told, findings)
        if channel:
            everybody = [from_plain(each) for each in channel.gather("told", asdict(told))]
    except StartAgainError as error:
        lost, _, remedy = str(error).rpartition("; ")
        told = replace(told, findings=(*findings, fail("others", lost, remedy.removesuffix("."))))
    report = _report(cluster, everybody or [told], told, why_alone)
    if cluster.is_chief or not everybody:
        show(report)
    if channel:
        _leave(channel)
    return report


def _leave(channel: Channel) -> None:
    """End when all do: who ends earlier, with 1, would have a launcher stop the chief."""
    with contextlib.suppress(StartAgainError):
        channel.gather("shown", True)
    channel.close()


def _find(file: str | None) -> tuple[Cluster, Finding]:
    text = None if file is None else _text(file)
    try:
        cluster = resolve() if text is None else parse(text, str(file))
    except UsageError as error:
        return Cluster(), fail("cluster", str(error), "see `python -m tfdist.cluster --print`")
    tasks = len(cluster.members)
    said = f"{tasks} tasks, from {cluster.source}" if tasks > 1 else f"none, {cluster.source} alone"
    return cluster, ok("cluster", said)


def _text(file: str) -> str:
    try:
        return Path(file).read_text()
    except (OSError, UnicodeError) as error:
        raise UsageError(f"--tf_config cannot be read ({error}): give a text file") from None


def _has_others(cluster: Cluster) -> bool:
    return len(cluster.members) > 1 and not cluster.is_evaluator


def _alone(cluster: Cluster) -> Iterator[Finding]:
    yield from versions.check()
    if _has_others(cluster):
        for look in (addresses.check, port.check, proxies.check):
            yield from look(cluster)


def _meet(cluster: Cluster, wait_seconds: float) -> tuple[Channel | None, str]:
    """The line to the other tasks' doctors, or why there is none."""
    if not _has_others(cluster):
        return None, ""
    try:
        doctor = {"command": "tfdist.doctor"}
        return meet(cluster, doctor, wait_seconds, call_seconds=_CALL_SECONDS), ""
    except (StartAgainError, UsageError) as error:
        return None, str(error)


def _examine(
    cluster: Cluster,
    channel: Channel | None,
    settings: Settings,
    told: Told,
    findings: list[Finding],
) -> Told:
    """What this task tells; `findings` holds what is found as soon as it is."""
    measured: list[Wire] = []
    if channel:
        measured = wires.measure(cluster, channel)
        findings += network.check(measured, cluster)
    elif _has_others(cluster):
        findings += reached.check(cluster)
    question = devices.Question()  # not while the network is measured
    if settings.checkpoint_dir:
        findings += folder.check(Path(settings.checkpoint_dir), cluster, channel)
    answer = question.answer()
    findings += [answer] if isinstance(answer, Finding) else devices.check(answer)
    seen = None if isinstance(answer, Finding) else answer
    if channel:
        facts = channel.gather("facts", (str(cluster.task), agreement.facts(cluster, seen)))
        findings += agreement.check(facts)
    if settings.numeric:
        findings += numeric.check(cluster, channel is not None)
    return replace(told, devices=seen, findings=tuple(findings), wires=tuple(measured))


def _report(cluster: Cluster, everybody: list[Told], own: Told, why_alone: str) -> Report:
    unseen = []
    if why_alone:
        unseen = [
            f"{why_alone} So nothing was measured between the tasks: run the doctor in all of "
            "them at once, as with `python -m tfdist.launch --workers=2 -- -m tfdist.doctor`."
        ]
    if own.findings[0].status == FAIL:
        return Report(cluster, None, "the cluster is not understood", {}, everybody, unseen)
    seen = Devices(**own.devices) if own.devices else Devices("CPU", 1)
    choice = choose("auto", cluster, seen)
    return Report(cluster, choice.name, choice.reason, choice.refused, everybody, unseen)
