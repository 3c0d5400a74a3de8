"""One file for each way in which a process can be told its place in a cluster.

Each has a NAME for people, and three functions of the environment variables:
- detect: whether this process is one of several tasks of it;
- rank_and_size: what it says of this process at no cost, to be compared with others; or None;
- cluster: the cluster, or a UsageError that says what is missing.
"""

from tfdist.cluster.environments import (
    kubeflow,
    kubernetes,
    mpi,
    ray,
    sagemaker,
    slurm,
    tf_config,
    vertex,
)

# The first one that is detected is followed, and the others must not contradict it.
ENVIRONMENTS = (kubeflow, tf_config, slurm, mpi, kubernetes, sagemaker, vertex, ray)
