import pytest

from tfdist.errors import UsageError
from tfdist.factory.devices import Devices, Request, parse


@pytest.mark.parametrize(
    ("text", "request_"),
    [
        (None, Request()),
        ("cpu", Request("CPU")),
        ("cpu:1", Request("CPU", 1)),
        ("cpu:2", Request("CPU", 2)),
        (" CPU:12 ", Request("CPU", 12)),
        ("gpu", Request("GPU")),
        ("gpu:4", Request("GPU", 4)),
        ("gpu:0,2", Request("GPU", 2, (0, 2))),
        ("gpu:3,1", Request("GPU", 2, (3, 1))),
        ("gpu:3,", Request("GPU", 1, (3,))),
    ],
)
def test_parse(text, request_):
    assert parse(text) == request_


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cpu:0", "'cpu:0' asks for no device at all: give a count of 1 or more."),
        ("gpu:0", r"'gpu:0' asks for no device at all.*\(the GPU numbered 0 is written gpu:0,\)"),
        ("cpu:0,1", "'cpu:0,1' gives numbers to logical CPUs, which have none"),
        ("gpu:1,1", "'gpu:1,1' names a GPU twice"),
        ("tpu", "'tpu' was not understood: write cpu, cpu:2, gpu, gpu:4 or gpu:0,2"),
        ("cpu:-1", "'cpu:-1' was not understood"),
        ("cpu:two", "'cpu:two' was not understood"),
        ("gpu:", "'gpu:' was not understood"),
        ("", "'' was not understood"),
        (2, "2 was not understood"),
    ],
)
def test_parse_refuses(text, message):
    with pytest.raises(UsageError, match=message):
        parse(text)


def test_devices_are_named_as_tensorflow_names_them():
    assert Devices("GPU", 2).names == ("/device:GPU:0", "/device:GPU:1")


@pytest.mark.parametrize(
    ("devices", "text"), [(Devices("CPU", 1), "1 CPU device"), (Devices("GPU", 4), "4 GPU devices")]
)
def test_devices_as_text(devices, text):
    assert str(devices) == text
