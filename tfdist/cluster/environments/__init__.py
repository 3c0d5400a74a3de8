"""One file for each way in which a process can be told its place in a cluster."""

from tfdist.cluster.environments import tf_config

ENVIRONMENTS = (tf_config,)
