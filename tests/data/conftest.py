import os
from pathlib import Path

import pytest

from tests.data import fashion


@pytest.fixture(scope="session")
def digits_dir(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder in which the digits are prepared once for all tests."""
    from tfdist.data import load

    folder = str(tmp_path_factory.mktemp("digits"))
    load("digits", folder)
    return folder


@pytest.fixture(scope="session")
def fashion_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which fashion_mnist can be prepared without a network."""
    if not fashion.is_installed():
        message = f"needs the Debian package {fashion.PACKAGE}"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    folder = tmp_path_factory.mktemp("fashion")
    fashion.seed(folder)
    return folder
