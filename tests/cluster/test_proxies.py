"""Which proxies would swallow the traffic of a cluster.

That gRPC follows these variables and no others was seen with TensorFlow 2.21: with each of the
three an operation on a server at 127.0.0.1 waited for ever, and the proxy was asked to CONNECT.
"""

import pytest

from tfdist.cluster import Cluster, Task
from tfdist.cluster.proxies import swallowed

CLUSTER = Cluster({"worker": {0: "10.1.0.1:1", 1: "10.1.0.2:1", 2: "n2.site.org:1"}})
PROXY = "http://proxy:3128"


@pytest.mark.parametrize("name", ["http_proxy", "https_proxy", "grpc_proxy"])
def test_a_proxy_takes_all_other_tasks(name):
    assert swallowed(CLUSTER, {name: PROXY}) == (
        f"{name}=http://proxy:3128 takes TensorFlow's traffic to 10.1.0.2, n2.site.org, which then "
        "waits for ever",
        f"export no_grpc_proxy=10.1.0.2,n2.site.org, or unset {name}",
    )


@pytest.mark.parametrize("name", ["HTTP_PROXY", "all_proxy", "ftp_proxy"])
def test_variables_that_grpc_does_not_read(name):
    assert swallowed(CLUSTER, {name: PROXY}) is None


@pytest.mark.parametrize(
    ("exceptions", "left"),
    [
        ("10.1.0.2,n2.site.org", None),
        (" 10.1.0.0/16 , .SITE.org", None),
        ("10.2.0.0/16,site.org", "10.1.0.2"),
        ("10.1.0.2", "n2.site.org"),
    ],
)
def test_exceptions(exceptions, left):
    found = swallowed(CLUSTER, {"http_proxy": PROXY, "no_proxy": exceptions})
    assert (found and found[0].split(" to ")[1].split(",")[0]) == left
    if found:
        assert f"export no_grpc_proxy={exceptions},{left}," in found[1]


def test_grpc_s_own_exceptions_go_before_the_others():
    env = {"http_proxy": PROXY, "no_proxy": "10.1.0.0/16,site.org", "no_grpc_proxy": "x"}
    assert swallowed(CLUSTER, env) is not None


def test_alone_nothing_is_taken():
    assert swallowed(Cluster(), {"http_proxy": PROXY}) is None
    own = Cluster({"worker": {0: "h1:1"}}, Task("worker", 0))
    assert swallowed(own, {"http_proxy": PROXY}) is None
