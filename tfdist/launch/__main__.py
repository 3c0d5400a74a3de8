"""The door to many tasks: `python -m tfdist.launch`, from one command to a whole cluster."""

import os
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from tfdist.cluster import Task
from tfdist.errors import EXIT_DONE, UsageError
from tfdist.launch.allocation import Step, is_in_allocation
from tfdist.launch.ended import Ended, exit_code
from tfdist.launch.fewer import Elastic
from tfdist.launch.group import Group, run
from tfdist.launch.hosts import THIS_MACHINE
from tfdist.launch.mpi import Ranks
from tfdist.launch.placing import parse_hosts, place, read_hostfile
from tfdist.launch.ray import Actors, resources
from tfdist.launch.restarts import Restarts, run_again
from tfdist.launch.screen import Screen
from tfdist.launch.settings import Settings
from tfdist.launch.signals import Signals
from tfdist.launch.slurm import interpreted
from tfdist.launch.ssh import ssh_host
from tfdist.launch.tasks import chosen, tasks_of
from tfdist.run.door import answer
from tfdist.run.flags import asks_for_help, help_text, parse

_Runner = Callable[[Screen, Signals], Callable[[], list[Ended]]]
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
        return _submit(settings, command)
    command = interpreted(command)
    slots = _slots(settings)
    if not slots and shutil.which(command[0]) is None:
        raise UsageError(f"{command[0]!r} is no program here: give one, or -m MODULE")
    if slots and settings.workers is None:
        others = sum(settings.sizes.values())
        settings = replace(settings, workers=max(1, sum(slots.values()) - others))
    tasks = tasks_of(settings.sizes)
    restarts = _restarts(settings)
    return _launch(tasks, _runner(settings, command, tasks, slots, restarts), settings, restarts)


def _submit(settings: Settings, command: list[str]) -> int:
    """Start the tasks through Ray or Slurm and watch them, or submit a job that goes on alone."""
    tasks = tasks_of(settings.sizes)
    if settings.submit == "slurm" and is_in_allocation():
        starter: Step | Actors = Step(settings, command)
    elif settings.submit == "ray":
        starter = _actors(settings, interpreted(command), tasks)
    else:
        from tfdist.launch.submit import submit

        return submit(settings, command)
    if settings.dry_run:
        sys.stdout.write(f"{starter}\n")
        return EXIT_DONE
    return _launch(tasks, starter.runner, settings, _restarts(settings))


def _restarts(settings: Settings) -> Restarts:
    return Restarts(settings.max_restarts, settings.restart_seconds)


def _launch(tasks: list[Task], runner: _Runner, settings: Settings, restarts: Restarts) -> int:
    shown = chosen(settings.role, tasks)
    folder = settings.log_dir or tempfile.mkdtemp(prefix="tfdist-launch-")
    with Signals() as signals, Screen(tasks, shown, Path(folder)) as screen:
        once = runner(screen, signals)
        screen.say(f"starting {len(tasks)} tasks, whose output is kept in {folder}")
        cause = run_again(once, restarts, screen, signals)
    return exit_code(cause)


def _runner(
    settings: Settings,
    command: list[str],
    tasks: list[Task],
    slots: dict[str, int],
    restarts: Restarts,
) -> _Runner:
    """What makes, of screen and signals, what runs all tasks once."""
    passed_on = _passed_on(settings)
    places = place(tasks, slots) if slots else {}
    if settings.transport == "mpi":
        used = Counter(places.values())
        ranks = Ranks(command, tasks, used, settings.ssh, passed_on, settings.grace_seconds)
        return ranks.runner
    hosts = {name: ssh_host(name, settings.ssh) for name in set(places.values())}
    group = Group(
        command,
        {task: hosts[places[task]] if places else THIS_MACHINE for task in tasks},
        settings.grace_seconds,
        base_port=settings.base_port,
        passed_on=passed_on,
        restarts=restarts,
    )
    return lambda screen, signals: Elastic(
        group,
        settings.min_workers,
        lambda those: run(those, screen, signals, screen.say),
        screen.say,
    )


def _actors(settings: Settings, command: list[str], tasks: list[Task]) -> Actors:
    own = resources(settings.submit_options)
    return Actors(command, tasks, own, _passed_on(settings), settings.grace_seconds)


def _passed_on(settings: Settings) -> tuple[str, ...]:
    return tuple((settings.pass_env or "").split(","))


def _slots(settings: Settings) -> dict[str, int]:
    """The number of tasks that each host has place for; empty for this machine alone."""
    if settings.hosts:
        return parse_hosts(settings.hosts)
    return read_hostfile(Path(settings.hostfile)) if settings.hostfile else {}


if __name__ == "__main__":
    sys.exit(main())
