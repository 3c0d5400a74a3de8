"""The folder of a task's logs."""

import pytest

from tfdist.errors import UsageError
from tfdist.progress.folder import of_task


def test_it_is_made(tmp_path):
    assert of_task(tmp_path / "new" / "logs").is_dir()


def test_one_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"log_dir is .*file/logs'.* cannot be made \(Not a dir"):
        of_task(tmp_path / "file" / "logs")
