"""What is wrong in the launcher's flags is one sentence and exit code 2."""

import pytest

from tfdist.launch.__main__ import main
from tfdist.launch.settings import Settings

WRONG = {
    "no number": ([], "the number of workers is missing: add --workers=2"),
    "nobody trains": (["--workers=0"], "--workers=0 leaves no task that trains"),
    "only a ps": (["--workers=0", "--chief", "--ps=1"], "--workers=0 leaves no task that trains"),
    "negative": (["--workers=2", "--max_restarts=-1"], "--max_restarts is -1, but must be 0 or"),
    "no coordinator": (["--workers=2", "--ps=1"], "--ps=1 needs a task that coordinates: add"),
    "port": (["--workers=2", "--base_port=70000"], "--base_port is 70000, but must be from 1"),
    "two lists": (["--hosts=a", "--hostfile=f"], "--hosts and --hostfile both name the hosts"),
    "scheduler": (
        ["--workers=2", "--submit=lsf"],
        "--submit is 'lsf', but must be one of slurm",
    ),
    "transport": (["--workers=2", "--transport=tcp"], "--transport is 'tcp', but must be auto or"),
    "no rank": (
        ["--workers=2", "--evaluator", "--transport=mpi"],
        "--evaluator does not go with --transport=mpi, whose ranks are the chief and the workers",
    ),
    "resources": (
        ["--workers=2", "--submit=ray", "--submit_options=2"],
        "--submit_options has '2' where ray expects what each task has for itself: write it like",
    ),
    "kind": (["--workers=2", "--kind=pod"], "--kind is 'pod', but must be one of job, jobset"),
    "dry": (["--workers=2", "--dry_run"], "--dry_run prints what --submit would do: add"),
    "image": (["--workers=2", "--submit=kubernetes"], "needs a container image: add --image="),
    "hosts": (["--workers=2", "--hosts=a", "--submit=slurm"], "finds the hosts itself"),
    "more": (
        ["--workers=2", "--hosts=a", "--min_workers=3"],
        "--min_workers is 3, but must be from",
    ),
    "no hosts": (["--workers=2", "--min_workers=1"], "--min_workers is for hosts that do not"),
    "flag": (["--worker=2"], "--worker is no flag; did you mean '--workers'"),
    "role": (["--workers=2", "--role=ps"], "--role has 'ps', and the cluster has the jobs worker"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_flags(name, capsys):
    flags, said = WRONG[name]
    assert main([*flags, "--", "true"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_the_command_is_needed(capsys):
    assert main(["--workers=2"]) == 2
    assert main(["--workers=2", "--", "no-such-program", "x"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "the command is missing: add it behind --, such as -- python train.py",
        "'no-such-program' is no program here: give one, or -m MODULE",
    ]


def test_sizes_in_the_order_of_ranks():
    settings = Settings(workers=2, ps=1, chief=True, evaluator=True)
    assert list(settings.sizes.items()) == [
        ("chief", 1),
        ("worker", 2),
        ("ps", 1),
        ("evaluator", 1),
    ]


def test_help_is_of_the_launcher_and_not_of_the_command(capsys):
    assert main(["--help"]) == 0
    assert "--max_restarts=N" in capsys.readouterr().out
    assert main(["--workers=1", "--", "-c", "import sys; sys.exit('--help' in sys.argv)"]) == 0
