import tempfile

import pytest


@pytest.fixture(autouse=True)
def folders_of_the_test_s_own(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
