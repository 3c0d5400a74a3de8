"""One task of a measurement: `python -m tfdist.timing.child KIND JSON`, started by `start`."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from tfdist.timing.start import IN_ONE_PROCESS, MARK


def main() -> None:
    """Measure, and let the chief write what was found."""
    kind, given = sys.argv[1], json.loads(sys.argv[2])
    from tfdist.run.loading import load_tensorflow

    load_tensorflow()
    found = {"scaling": _scaling, "allreduce": _allreduce, "loop": _loop}[kind](given)
    from tfdist.factory import current

    if current().cluster.is_chief:
        sys.stdout.write(f"{MARK}{json.dumps(found)}\n")
        sys.stdout.flush()


def _scaling(given: dict[str, Any]) -> dict[str, Any]:
    from tfdist.timing.step import scaling

    return scaling(_strategy(given), given)


def _allreduce(given: dict[str, Any]) -> dict[str, Any]:
    from tfdist.timing.allreduce import allreduce

    return allreduce(_strategy(given), given)


def _loop(given: dict[str, Any]) -> dict[str, Any]:
    from tfdist.timing.step import beside_keras

    return beside_keras(_strategy(given), given)


def _strategy(given: dict[str, Any]) -> Any:
    import tensorflow as tf

    import tfdist

    name, tasks = given.get("strategy", "multi_worker"), given["tasks"]
    threads = max(1, (os.cpu_count() or 1) // (1 if name in IN_ONE_PROCESS else tasks))
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(max(2, threads))
    if tasks == 1:
        return tfdist.strategy("one_device")
    if name in IN_ONE_PROCESS:
        return tfdist.strategy(name, f"cpu:{tasks}")
    road = given["transport"]
    return tfdist.strategy(name, transport="auto" if road == "none" else road)


if __name__ == "__main__":
    main()
