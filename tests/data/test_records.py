import numpy as np
import pytest

from tfdist.data.records import Records
from tfdist.errors import UsageError


def write(path, *records):
    import tensorflow as tf

    with tf.io.TFRecordWriter(str(path)) as writer:
        for record in records:
            writer.write(record)
    return str(path)


def test_records_of_several_files_are_numbered_through(tmp_path):
    contents = [[b"a", b"", b"ccc"], [], [b"d" * 1000], [b"e"]]
    paths = [write(tmp_path / str(number), *each) for number, each in enumerate(contents)]
    records = Records(paths)
    expected = [record for each in contents for record in each]
    assert len(records) == 5
    assert records.read(np.arange(5)).tolist() == expected
    assert records.read(np.array([4, 0, 4])).tolist() == [b"e", b"a", b"e"]
    assert [records.where(number) for number in (0, 2, 3, 4)] == [
        f"record 0 of {paths[0]}",
        f"record 2 of {paths[0]}",
        f"record 0 of {paths[2]}",
        f"record 0 of {paths[3]}",
    ]


def test_more_files_than_may_be_open(tmp_path):
    paths = [write(tmp_path / f"{number:03}", b"%d" % number) for number in range(200)]
    found = Records(paths).read(np.arange(200)[::-1])
    assert found.tolist() == [b"%d" % number for number in range(200)][::-1]


def test_no_files_have_no_records():
    assert len(Records([])) == 0


def test_a_file_that_is_cut_off(tmp_path):
    path = write(tmp_path / "a", b"first", b"second")
    whole = (tmp_path / "a").read_bytes()
    for missing in (1, 20):
        (tmp_path / "a").write_bytes(whole[:-missing])
        with pytest.raises(
            UsageError, match=f"{path} is cut off or damaged: its record at byte 21"
        ):
            Records([path])


def test_a_damaged_length(tmp_path):
    path = write(tmp_path / "a", b"first", b"second")
    content = bytearray((tmp_path / "a").read_bytes())
    content[21:29] = b"\xff" * 8
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(UsageError, match="its record at byte 21 goes beyond its end at byte 43"):
        Records([path])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"x", "is no TFRecord file: correct the pattern after tfrecord:"),
        (b"This is a text of some length.", "is no TFRecord file"),
        (b"\x1f\x8b" + bytes(30), "is compressed, so that no record can be read alone: decompress"),
        (b"\x78\x9c" + bytes(30), "is compressed"),
    ],
)
def test_other_files(tmp_path, content, message):
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(UsageError, match=message):
        Records([str(tmp_path / "a")])
