import subprocess
import sys

import pytest

from tfdist.data import load
from tfdist.errors import UsageError

IMPORT_ALL_THAT_IS_PURE = """
import sys
import tfdist.data, tfdist.data.ledger, tfdist.data.split, tfdist.models
heavy = [name for name in ("tensorflow", "keras", "tensorflow_datasets") if name in sys.modules]
sys.exit(f"imported {heavy}" if heavy else 0)
"""


def test_import_does_not_import_tensorflow():
    subprocess.run([sys.executable, "-c", IMPORT_ALL_THAT_IS_PURE], check=True, timeout=60)


def test_each_kind_of_name_is_found(digits_dir, monkeypatch, tmp_path):
    (tmp_path / "mine_by_name.py").write_text(
        "def twice(data_dir):\n"
        "    from tfdist.data import load\n"
        "    digits = load('digits', data_dir)\n"
        "    return digits.train.concatenate(digits.train), digits.validation\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert load("digits", digits_dir).train_examples == 1437
    assert load("mine_by_name:twice", digits_dir).train_examples == 2 * 1437


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mnits", "no dataset is named 'mnits'.*did you mean 'mnist'"),
        ("digit", "no dataset is named 'digit'.*did you mean 'digits'"),
        ("emnist/digitz", r"cannot open 'emnist/digitz' \(BuilderConfig digitz.*mean 'digits'"),
        ("mnist:9.9.9", r"cannot open 'mnist:9.9.9' \(Dataset mnist cannot be loaded at version"),
        ("", "no dataset is named ''"),
    ],
)
def test_unknown_name(name, message, tmp_path):
    with pytest.raises(UsageError, match=message):
        load(name, str(tmp_path))
    assert list(tmp_path.iterdir()) == []
