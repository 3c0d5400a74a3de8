"""host:port."""

import pytest

from tfdist.cluster.addresses import is_loopback, join_address, same_place, split_address

SPLIT = {
    "h:1": ("h", 1),
    "my_host-1.example.org:65535": ("my_host-1.example.org", 65535),
    "10.0.0.1:2222": ("10.0.0.1", 2222),
    "[2001:db8::1]:2222": ("2001:db8::1", 2222),
    "[fe80::1%eth0]:2222": ("fe80::1%eth0", 2222),
    "h:0080": ("h", 80),
}


@pytest.mark.parametrize("address", SPLIT)
def test_split(address):
    assert split_address(address) == SPLIT[address]


@pytest.mark.parametrize("address", ["h:1", "10.0.0.1:2222", "[2001:db8::1]:2222"])
def test_join_is_the_inverse(address):
    assert join_address(*split_address(address)) == address


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "127.0.0.1", "127.9.9.9", "::1"])
def test_loopback(host):
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["h", "10.0.0.1", "2001:db8::1", "localhost2"])
def test_not_loopback(host):
    assert not is_loopback(host)


def test_same_place():
    assert same_place("LocalHost:1") == same_place("127.0.0.1:1")
    assert same_place("[::1]:1") == same_place("[0:0:0:0:0:0:0:1]:1")
    assert same_place("H1.:1") == same_place("h1:1")
    assert same_place("h1:1") != same_place("h1:2")
