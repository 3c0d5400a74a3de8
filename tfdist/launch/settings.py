"""What the launcher is told: its flags, checked as soon as they are known."""

from dataclasses import dataclass, field
from typing import Any

from tfdist.errors import UsageError

SUBMIT = ("slurm", "kubernetes", "ray")
TRANSPORTS = ("auto", "mpi")
KINDS = ("job", "jobset", "tfjob")
_WHAT, _WHERE, _HOW, _SUBMIT = "Which tasks", "Where", "How", "By a scheduler"


def _flag(default: Any, group: str, value: str, meaning: str) -> Any:
    return field(default=default, metadata={"group": group, "value": value, "help": meaning})


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything the launcher is told; each field is a flag of `python -m tfdist.launch`.

    Raises:
        UsageError: a value is wrong, or two do not go together.
    """

    workers: int | None = _flag(
        None, _WHAT, "N", "tasks that train [with hosts: as many as there is place for]"
    )
    ps: int = _flag(0, _WHAT, "N", "parameter servers, which need --chief")
    chief: bool = _flag(False, _WHAT, "", "a chief beside the workers")
    evaluator: bool = _flag(False, _WHAT, "", "a task that evaluates beside the training")
    hosts: str | None = _flag(
        None, _WHERE, "LIST", "start by ssh, on h1,h2:4 for one task on h1 and four on h2"
    )
    hostfile: str | None = _flag(
        None, _WHERE, "FILE", "the same from a file, with one host a line: h2 slots=4"
    )
    ssh: str = _flag("ssh", _WHERE, "COMMAND", "how to call OpenSSH, such as 'ssh -p 2222'")
    pass_env: str | None = _flag(
        None, _WHERE, "NAMES", "variables for tasks on other hosts, beside TF_*, PYTHON* and such"
    )
    transport: str = _flag(
        "auto", _WHERE, "NAME", "mpi starts the tasks by mpirun, for a COMMAND --transport=mpi"
    )
    base_port: int | None = _flag(
        None, _WHERE, "PORT", "of the first task on each host [ports that are free there]"
    )
    role: str | None = _flag(
        None, _HOW, "LIST", "whose output is shown, such as chief,worker:1 [all]"
    )
    log_dir: str | None = _flag(
        None, _HOW, "FOLDER", "for the whole output, a file a task [a new folder]"
    )
    grace_seconds: float = _flag(10.0, _HOW, "SECONDS", "between SIGTERM and SIGKILL")
    max_restarts: int = _flag(
        0, _HOW, "N", "of all tasks, after exit code 75 or a death by signal; not after 1 or 2"
    )
    min_workers: int | None = _flag(
        None, _HOW, "N", "restart with so few when a host does not come back [with all]"
    )
    restart_seconds: float = _flag(
        1.0, _HOW, "SECONDS", "before the first restart, then twice as long each time, up to 60"
    )
    submit: str | None = _flag(None, _SUBMIT, "NAME", f"{', '.join(SUBMIT)}, with --workers")
    dry_run: bool = _flag(False, _SUBMIT, "", "print what would be submitted")
    job_name: str = _flag("tfdist", _SUBMIT, "NAME", "of the job")
    submit_options: str | None = _flag(
        None,
        _SUBMIT,
        "WORDS",
        "for sbatch, such as '--nodes=2 --gpus-per-task=1', or of each task for ray: 'CPU=2 GPU=1'",
    )
    image: str | None = _flag(None, _SUBMIT, "NAME", "container image, for kubernetes")
    kind: str = _flag("job", _SUBMIT, "NAME", f"for kubernetes: {', '.join(KINDS)}")

    def __post_init__(self) -> None:
        self._check_numbers()
        self._check_places()
        self._check_transport()
        self._check_submit()

    @property
    def sizes(self) -> dict[str, int]:
        """The number of tasks of each job, in the order of their ranks."""
        sizes = {
            "chief": int(self.chief),
            "worker": self.workers or 0,
            "ps": self.ps,
            "evaluator": int(self.evaluator),
        }
        return {job: size for job, size in sizes.items() if size}

    def _check_numbers(self) -> None:
        for name in ("workers", "ps", "max_restarts", "restart_seconds", "grace_seconds"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise UsageError(f"--{name} is {value}, but must be 0 or more")
        if self.base_port is not None and not 1 <= self.base_port <= 65_000:
            raise UsageError(f"--base_port is {self.base_port}, but must be from 1 to 65000")
        if self.ps and not self.chief:
            raise UsageError(f"--ps={self.ps} needs a task that coordinates: add --chief")

    def _check_places(self) -> None:
        if self.hosts is not None and self.hostfile is not None:
            raise UsageError("--hosts and --hostfile both name the hosts: give one of them")
        if self.workers is None and (self.submit or not (self.hosts or self.hostfile)):
            raise UsageError("the number of workers is missing: add --workers=2, for example")
        if self.min_workers is not None:
            self._check_fewer(self.min_workers)
        if self.workers == 0 and (self.ps or not self.chief):
            raise UsageError("--workers=0 leaves no task that trains: give --workers=1 or more")

    def _check_transport(self) -> None:
        if self.transport not in TRANSPORTS:
            known = " or ".join(TRANSPORTS)
            raise UsageError(f"--transport is {self.transport!r}, but must be {known}")
        if self.transport != "mpi":
            return
        for name in ("ps", "evaluator", "base_port", "submit", "min_workers"):
            if getattr(self, name):
                raise UsageError(
                    f"--{name} does not go with --transport=mpi, whose ranks are the chief and the "
                    "workers: leave one out"
                )

    def _check_fewer(self, least: int) -> None:
        if not 1 <= least <= (self.workers or least):
            raise UsageError(
                f"--min_workers is {least}, but must be from 1 to --workers={self.workers}"
            )
        if not (self.hosts or self.hostfile):
            raise UsageError(
                "--min_workers is for hosts that do not come back: give --hosts or --hostfile too"
            )

    def _check_submit(self) -> None:
        if self.submit is not None and self.submit not in SUBMIT:
            raise UsageError(f"--submit is {self.submit!r}, but must be one of {', '.join(SUBMIT)}")
        if self.kind not in KINDS:
            raise UsageError(f"--kind is {self.kind!r}, but must be one of {', '.join(KINDS)}")
        if self.dry_run and self.submit is None:
            raise UsageError("--dry_run prints what --submit would do: add --submit=slurm")
        if self.submit and (self.hosts or self.hostfile):
            raise UsageError(f"--submit={self.submit} finds the hosts itself: leave out the others")
        if self.submit == "kubernetes" and not self.image:
            raise UsageError("--submit=kubernetes needs a container image: add --image=NAME")
