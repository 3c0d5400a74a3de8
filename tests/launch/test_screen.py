"""What becomes of the files when they cannot be written on."""

import io
import sys

from tfdist.cluster import Task
from tfdist.launch.screen import Screen

A, B = Task("worker", 0), Task("worker", 1)


def test_a_full_disk_is_said_once_and_ends_no_training(tmp_path, capsys):
    (tmp_path / "worker-0.log").symlink_to("/dev/full")
    with Screen([A, B], [A], tmp_path) as screen:
        for line in ("one", "two"):
            screen(A, "stdout", line)
            screen(B, "stdout", line)
    shown = capsys.readouterr()
    assert shown.out == "[worker 0] one\n[worker 0] two\n"
    assert shown.err == f"[launcher] {tmp_path}/worker-0.log ends here: No space left on device\n"
    assert (tmp_path / "worker-1.log").read_text() == "one\ntwo\n"


def test_the_last_lines_are_those_since_they_were_asked_for(tmp_path):
    with Screen([A], [], tmp_path) as screen:
        for number in range(30):
            screen(A, "stderr", str(number))
        assert screen.last_lines(A) == [str(number) for number in range(10, 30)]
        screen(A, "stdout", "new")
        assert screen.last_lines(A) == ["new"]


def test_a_bar_is_drawn_on_a_terminal_and_neither_kept_nor_shown_elsewhere(
    tmp_path, capsys, monkeypatch
):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    with Screen([A, B], [A], tmp_path) as screen:
        screen(A, "stdout", "\rhalf")
        assert capsys.readouterr().out == ""
        monkeypatch.setattr(sys, "stdout", terminal := Terminal())
        screen(A, "stdout", "\rhalf")
        screen(B, "stdout", "\rnot shown")
        screen(A, "stdout", "a line")
    bar, line = terminal.getvalue().split("\x1b[K", 1)
    assert bar == "\r[worker 0] half"
    assert line.startswith("\r\x1b[K")
    assert line.endswith(" a line\n")
    assert (tmp_path / "worker-0.log").read_text() == "a line\n"
