"""What the environment of a task says: its cluster and its share of the processor."""

import sys

from tfdist.cluster import Cluster
from tfdist.cluster.variables import environment

# Other descriptions of a cluster: with TF_CONFIG there is to be exactly one.
OTHER_CLUSTERS = (
    *("TF_CONFIG", "TFDIST_TASKS", "TFDIST_SERVICE", "TFDIST_PORT"),
    *("SLURM_", "OMPI_", "PMI_", "PMIX_", "PRTE_", "MPI_LOCAL", "HYDI_", "HYDRA_"),
    *("JOB_COMPLETION_INDEX", "JOBSET_NAME", "REPLICATED_JOB_NAME"),
    *("SM_", "CLUSTER_SPEC", "RAY_"),
)
# What a task on another host is given of the launcher's environment, beside what the user names.
_PASSED_ON = (
    *("PATH", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "PYTHON", "TF_", "TFDIST_", "KERAS_", "XLA_"),
    *("CUDA_", "NCCL_", "GRPC_", "OMP_", "MKL_", "LANG", "LC_"),
)
_RING_THREADS = 2  # TensorFlow's ring waits for ever with one


def variables(cluster: Cluster, cores: int) -> dict[str, str]:
    """Return the variables by which a task knows its cluster and its share of the processor.

    Args:
        cluster: From the view of the task.
        cores: Of its host, for this task; what the user set is left as it is.
    """
    share = max(1, cores)
    # A parameter server answers all workers at once; ranks of MPI need no ring.
    waiting = (
        cluster.num_workers + 1 if cluster.has_ps else 1 if cluster.is_local else _RING_THREADS
    )
    given = {
        "PYTHONUNBUFFERED": "1",
        "TF_NUM_INTRAOP_THREADS": str(share),
        "TF_NUM_INTEROP_THREADS": str(max(share, waiting)),
        "OMP_NUM_THREADS": str(share),
    }
    if sys.stdout.isatty():
        given["TFDIST_BAR"] = "1"  # which tfdist.launch.screen draws
    ours = {name: value for name, value in given.items() if name not in environment()}
    return ours if cluster.is_local else {**ours, "TF_CONFIG": cluster.tf_config()}


def passed_on(names: tuple[str, ...] = ()) -> dict[str, str]:
    """Return the variables that a task on another host is given of this process's.

    Args:
        names: Of variables beside those that TensorFlow, Python and their libraries read.
    """
    return {
        name: value
        for name, value in environment().items()
        if (name.startswith(_PASSED_ON) and not name.startswith(OTHER_CLUSTERS)) or name in names
    }
