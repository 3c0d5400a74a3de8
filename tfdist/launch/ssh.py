"""Hosts that OpenSSH reaches, with the keys, ports and names of the user's own configuration."""

import json
import shlex
import shutil
import subprocess
from pathlib import Path

from tfdist.errors import UsageError
from tfdist.launch import keeper
from tfdist.launch.hosts import Host

# A keeper watches its standard input and ends its task when that ends, so no terminal is needed
# for that (`ssh -tt`), which would mix standard output with standard error.
_OPTIONS = (
    *("-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"),
    *("-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3"),
)
_READ_AND_RUN = "import json; exec(json.loads(open(0, 'rb', 0, closefd=False).readline()))"


def ssh_host(name: str, ssh: str) -> Host:
    """Return the host that `ssh NAME` reaches.

    Args:
        name: As ssh takes it: HOST, USER@HOST, or an alias of its configuration.
        ssh: How ssh is called, with options of the user's.

    Raises:
        UsageError: ssh is not there or does not understand the name.
    """
    words = shlex.split(ssh)
    if not words or shutil.which(words[0]) is None:
        raise UsageError(f"--ssh is {ssh!r}, which is no program here: install openssh-client")
    login = (*words, *_OPTIONS, "--", name)
    # Any login shell understands this; the text of the keeper is read from standard input.
    command = f'exec python3 -c "{_READ_AND_RUN}"'
    greeting = json.dumps(Path(keeper.__file__).read_text()).encode() + b"\n"
    return Host(name, _address(words, name), (*login, command), greeting, login)


def _address(words: list[str], name: str) -> str:
    """What ssh makes of the name, since only ssh knows its aliases."""
    asked = subprocess.run([*words, "-G", "--", name], capture_output=True, text=True, timeout=30)
    found = dict(line.split(" ", 1) for line in asked.stdout.splitlines() if " " in line)
    if "hostname" not in found:
        last = (asked.stderr.strip() or "no answer").splitlines()[-1]
        raise UsageError(f"the host {name!r} is not understood by {' '.join(words)}: {last}")
    return found["hostname"]
