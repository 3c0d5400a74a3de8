"""The door to many tasks: `python -m tfdist.launch`, from one command to a whole cluster."""

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tfdist.cluster import Task
from tfdist.errors import EXIT_DONE, UsageError
from tfdist.launch.ended import exit_code
from tfdist.launch.group import Group, run
from tfdist.launch.hosts import THIS_MACHINE, Host
from tfdist.launch.placing import parse_hosts, place, read_hostfile
from tfdist.launch.restarts import run_again
from tfdist.launch.screen import Screen
from tfdist.launch.settings import Settings
from tfdist.launch.signals import Signals
from tfdist.launch.ssh import ssh_host
from tfdist.launch.tasks import chosen, tasks_of
from tfdist.run.door import answer
from tfdist.run.flags import asks_for_help, help_text, parse

_USAGE = "python -m tfdist.launch --workers=N [--flag=value ...] -- COMMAND"
_SUMMARY = """\
Start COMMAND in every task of a cluster, each with its TF_CONFIG, on this machine,
by ssh or by a scheduler: `python train.py ...`, or `-m tfdist.train ...` for this
Python. When a task fails all are stopped, and the first failure is shown as the
cause and gives the exit code (128 and its number for a signal)."""


def main(words: Sequence[str] | None = None) -> int:
    """Run the command with these words, by default those of the command line."""
    words = sys.argv[1:] if words is None else words
    try:
        return answer(lambda: _run(words))
    except BrokenPipeError:  # who reads the output, such as `| head`, has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE


def _run(words: Sequence[str]) -> int:
    end = list(words).index("--") if "--" in words else len(words)
    if asks_for_help(words[:end]):
        sys.stdout.write(help_text(Settings, _USAGE, _SUMMARY) + "\n")
        return EXIT_DONE
    settings = parse(Settings, words[:end])
    command = list(words[end + 1 :])
    if not command:
        raise UsageError("the command is missing: add it behind --, such as -- python train.py")
    if settings.submit:
        from tfdist.launch.submit import submit

        return submit(settings, command)
    return _launch(_group(settings, command), settings)


def _launch(group: Group, settings: Settings) -> int:
    tasks = list(group.places)
    shown = chosen(settings.role, tasks)
    folder = settings.log_dir or tempfile.mkdtemp(prefix="tfdist-launch-")
    with Signals() as signals, Screen(tasks, shown, Path(folder)) as screen:
        screen.say(f"starting {len(tasks)} tasks, whose output is kept in {folder}")
        cause = run_again(
            lambda: run(group, screen, signals, screen.say), settings.max_restarts, screen, signals
        )
    return exit_code(cause)


def _group(settings: Settings, command: list[str]) -> Group:
    if command[0].startswith("-"):
        command = [sys.executable, *command]
    if settings.hosts or settings.hostfile:
        places = _by_ssh(settings)
    else:
        if shutil.which(command[0]) is None:
            raise UsageError(f"{command[0]!r} is no program here: give one, or -m MODULE")
        places = dict.fromkeys(tasks_of(settings.sizes), THIS_MACHINE)
    return Group(
        command,
        places,
        settings.grace_seconds,
        base_port=settings.base_port,
        passed_on=tuple((settings.pass_env or "").split(",")),
    )


def _by_ssh(settings: Settings) -> dict[Task, Host]:
    named = settings.hosts
    slots = parse_hosts(named) if named else read_hostfile(Path(settings.hostfile or ""))
    if settings.workers is None:
        others = sum(settings.sizes.values())
        settings = replace(settings, workers=max(1, sum(slots.values()) - others))
    placed = place(tasks_of(settings.sizes), slots)
    hosts = {name: ssh_host(name, settings.ssh) for name in set(placed.values())}
    return {task: hosts[name] for task, name in placed.items()}


if __name__ == "__main__":
    sys.exit(main())
