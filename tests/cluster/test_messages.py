"""JSON objects over a connection."""

import socket
import struct
import time

import pytest

from tfdist.cluster.messages import Connection


@pytest.fixture
def ends():
    """Our end as a Connection, and the peer's as a bare socket."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        peer = socket.create_connection(server.getsockname())
        connection = Connection(server.accept()[0])
    yield connection, peer
    connection.close()
    peer.close()


def frame(data):
    return struct.pack("!I", len(data)) + data


def test_a_message_that_comes_in_pieces(ends):
    connection, peer = ends
    for piece in (b"\0\0", b'\0\x08{"', b'a": 1'):
        peer.sendall(piece)
        connection.fill()
        assert connection.take() is None
    peer.sendall(b"}" + frame(b"{}") + b"\0")
    connection.fill()
    assert [connection.take() for _ in range(3)] == [{"a": 1}, {}, None]


def test_what_is_sent(ends):
    connection, peer = ends
    connection.send({"a": [1, None, "ä"]})
    assert peer.recv(1000) == frame(b'{"a": [1, null, "\\u00e4"]}')


@pytest.mark.parametrize(
    "data", [b"GET / HTTP/1.1\r\n", b"PRI * HTTP/2.0", frame(b"[]"), frame(b"1"), frame(b"\xff{")]
)
def test_foreign_words(ends, data):
    connection, peer = ends
    peer.sendall(data)
    connection.fill()
    with pytest.raises(ConnectionAbortedError, match="what answers there is not tfdist"):
        connection.take()


def test_the_end(ends):
    connection, peer = ends
    peer.close()
    assert connection.is_readable(5)
    with pytest.raises(ConnectionResetError, match="it closed the connection"):
        connection.fill()


def test_readable_only_when_something_came(ends):
    connection, peer = ends
    before = time.monotonic()
    assert not connection.is_readable(0.1)
    assert time.monotonic() - before >= 0.1
    peer.sendall(b"x")
    assert connection.is_readable(5)


def test_a_dead_host_is_noticed_in_25_seconds(ends):
    connection, _ = ends
    sock = connection._socket
    assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
    idle, interval, count, user_timeout_ms = (
        sock.getsockopt(socket.IPPROTO_TCP, getattr(socket, name))
        for name in ("TCP_KEEPIDLE", "TCP_KEEPINTVL", "TCP_KEEPCNT", "TCP_USER_TIMEOUT")
    )
    assert idle + interval * count == 25
    assert user_timeout_ms == 25_000


def test_the_peer_s_address(ends):
    assert ends[0].peer_host == "127.0.0.1"
