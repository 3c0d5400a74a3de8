"""Can this task listen at its own port?"""

from collections.abc import Iterator

from tfdist.cluster import Cluster
from tfdist.cluster.ports import hold_port
from tfdist.diagnosis.finding import Finding, fail, ok
from tfdist.errors import StartAgainError, UsageError


def check(cluster: Cluster) -> Iterator[Finding]:
    """Take the port and leave it again."""
    try:
        hold_port(cluster.task, cluster.address(cluster.task)).close()
    except (StartAgainError, UsageError) as error:
        said, _, remedy = str(error).rpartition("; ")
        yield fail("own port", said, remedy.removesuffix("."))
    else:
        yield ok("own port", "that of this task's address is free")
