"""Does a small model come out of two replicas as it comes out of one?"""

import json
import subprocess
import sys
from collections.abc import Iterator

from tfdist.cluster import Cluster
from tfdist.cluster.variables import environment
from tfdist.diagnosis.finding import Finding, fail, ok
from tfdist.launch import keeper
from tfdist.launch.environment import OTHER_CLUSTERS

_LIMIT_SECONDS = 300
_FLAGS = ("--dataset=digits", "--model=mlp", "--global_batch_size=64", "--steps=10", "--json")
_ALONE = ("--strategy=mirrored", "--devices=cpu:2")


def check(cluster: Cluster, is_together: bool) -> Iterator[Finding]:
    """Train on the workers of the cluster when all are here, else on two parts of this CPU."""
    in_cluster = is_together and cluster.num_workers > 1 and not cluster.has_ps
    kept = {k: v for k, v in environment().items() if not k.startswith(OTHER_CLUSTERS)}
    env = {**kept, "TF_CONFIG": cluster.tf_config()} if in_cluster else kept
    words = [sys.executable, "-m", "tfdist.verify", *_FLAGS, *(() if in_cluster else _ALONE)]
    try:
        done = subprocess.run(
            words,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_LIMIT_SECONDS,
            preexec_fn=keeper.die_with_parent,
        )
    except subprocess.TimeoutExpired:
        yield _failed(f"it is not done after {_LIMIT_SECONDS} s")
        return
    where = f"{cluster.num_workers} workers" if in_cluster else "two devices of this CPU"
    if done.returncode == 0:
        yield ok("numeric", f"a small model has the same weights on {where} and on one device")
    elif done.stdout.strip():
        yield _failed(_difference(done.stdout, where))
    else:
        yield _failed((done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1])


def _difference(text: str, where: str) -> str:
    report = json.loads(text.splitlines()[-1])
    causes = "; ".join(cause["what"] for cause in report["causes"])
    return f"a small model has other weights on {where} than on one device ({causes})"


def _failed(said: str) -> Finding:
    return fail("numeric", said, f"look at `python -m tfdist.verify {' '.join(_FLAGS[:-1])}`")
