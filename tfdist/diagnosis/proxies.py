"""Is there a proxy that would take the traffic between the tasks?"""

from collections.abc import Iterator

from tfdist.cluster import Cluster
from tfdist.cluster.proxies import swallowed
from tfdist.cluster.variables import environment
from tfdist.diagnosis.finding import Finding, fail, ok


def check(cluster: Cluster) -> Iterator[Finding]:
    """Look at the variables that gRPC reads."""
    if found := swallowed(cluster, environment()):
        yield fail("proxies", *found)
    else:
        yield ok("proxies", "none takes the traffic between the tasks")
