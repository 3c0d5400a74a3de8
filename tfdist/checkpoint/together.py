"""How do the tasks of a job keep to one checkpoint? The chief writes and chooses, all agree."""

from __future__ import annotations

from typing import Any

from tfdist import factory
from tfdist.checkpoint import folder as folders
from tfdist.checkpoint.content import where
from tfdist.checkpoint.places import Place
from tfdist.checkpoint.say import say
from tfdist.checkpoint.storage import DamagedError, verify
from tfdist.cluster import Channel
from tfdist.errors import EXIT_AGAIN, UsageError
from tfdist.factory.context import last


def is_chief() -> bool:
    """Whether this task writes; an evaluator, and who built no strategy by tfdist, is alone."""
    context = last()
    return context is None or context.cluster.is_chief or context.cluster.is_evaluator


def choose(folder: Place, epochs: int, afresh: bool) -> tuple[dict[str, Any] | None, list[str]]:
    """Return the manifest that all tasks go on from, None to begin; and damaged ones' names.

    Raises:
        UsageError: on every task, when there are checkpoints and none is whole, when the folder
            cannot be written, or when a task does not see what the chief chose.
    """
    chosen: dict[str, Any] = {}
    if is_chief():
        try:
            chosen = _chosen(folder, epochs, afresh)
        except UsageError as error:
            chosen = {"error": str(error)}
    channel = _channel()
    if channel is not None:
        chosen = channel.gather("checkpoint", chosen)[0]
        seen = _seen(folder, chosen)
        errors = [error for error in channel.gather("checkpoint seen", seen) if error]
        chosen |= {"error": errors[0]} if errors else {}
    if "error" in chosen:
        raise UsageError(chosen["error"])
    return chosen["manifest"], chosen["damaged"]


def part(code: int = EXIT_AGAIN) -> None:
    """Wait until every task has done its part, so that none takes another's end for a loss."""
    channel = _channel()
    if channel is not None:
        channel.gather("checkpoint saved", True)
        channel.close()
    factory.finish(code)


def _chosen(folder: Place, epochs: int, afresh: bool) -> dict[str, Any]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folders.clear(folder)
        probe = folder / ".writable"
        probe.write_text("?")
        probe.unlink()
        aside = folders.set_aside(folder) if afresh else None
    except OSError as error:
        raise UsageError(
            f"checkpoints cannot be written to {folder} ({error.strerror}): give a folder that can"
        ) from error
    if aside is not None:
        say(f"starts afresh; the checkpoints there were are in {aside}")
    manifest, damaged = folders.newest(folder, epochs, say)
    return {"manifest": manifest, "damaged": damaged}


def _seen(folder: Place, chosen: dict[str, Any]) -> str | None:
    """Return what is wrong with the chief's choice as seen from here."""
    manifest = chosen.get("manifest")
    if is_chief() or manifest is None:
        return None
    path = folder / where(manifest).name
    try:
        same = verify(path) == manifest
        reason = "it is another one"
    except DamagedError as error:
        same, reason = False, str(error)
    task = last().cluster.task  # type: ignore[union-attr]
    return (
        None
        if same
        else (
            f"{task} does not see checkpoint {path} as the chief does ({reason}): "
            "give a folder that all tasks share"
        )
    )


def _channel() -> Channel | None:
    """Return the line to the other tasks that train; under parameter servers there are none."""
    context = last()
    return None if context is None or context.cluster.has_ps else context.channel
