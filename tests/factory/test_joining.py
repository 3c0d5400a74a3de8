import pytest

from tfdist.cluster import Cluster
from tfdist.errors import UsageError
from tfdist.factory import plan
from tfdist.factory.joining import join


def test_a_proxy_that_would_take_the_traffic_is_refused(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://proxy:3128")
    planned = plan(cluster=Cluster({"worker": {0: "127.0.0.1:1", 1: "127.0.0.1:2"}}))
    with pytest.raises(UsageError) as caught:
        join(planned, {}, wait_seconds=1, stall_seconds=1)
    assert str(caught.value) == (
        "http_proxy=http://proxy:3128 takes TensorFlow's traffic to 127.0.0.1, which then waits "
        "for ever: export no_grpc_proxy=127.0.0.1, or unset http_proxy."
    )
