import re

import pytest

from tests.processes import run_alone
from tfdist.data.__main__ import main
from tfdist.data.bench.command import report
from tfdist.data.settings import Settings

SETTINGS = Settings(bench=True, model="cnn")
STAGES = {"read and decode": 1000.0, "keep in a cache": 90_000.0, "shuffle": 80_000.0}


def test_the_report_with_the_data_as_the_limit():
    found = {**STAGES, "change images": 20_000.0, "plain tf.data": 16_000.0}
    assert list(report(SETTINGS, found, 25_000.0)) == [
        "digits in batches of 64, examples/s:",
        "  read and decode          1,000",
        "  keep in a cache         90,000",
        "  shuffle                 80,000",
        "  change images           20,000",
        "  plain tf.data           16,000  the pipeline gives 1.25 times as many",
        "  cnn                     25,000",
        "the limit is the data, 80% of what the model takes: see 'change images'",
    ]


def test_the_report_with_the_model_as_the_limit():
    *_, verdict = report(SETTINGS, STAGES, 20_000.0)
    assert verdict == "the limit is the model, which takes 25% of what the data gives"


def test_the_report_without_a_model():
    *_, verdict = report(SETTINGS, {"read": 1000.0, "shuffle": 900.0}, None)
    assert verdict == "the pipeline gives 900 examples/s, and most of its time goes to 'read'"


def test_a_pipeline_and_a_model_are_measured(digits_dir):
    words = ["-m", "tfdist.data", "--bench", "--seconds=0.1", "--model=mlp", "--crop=0.9"]
    done = run_alone([*words, f"--data_dir={digits_dir}"], timeout_seconds=200)
    assert done.returncode == 0, done
    rates = dict(re.findall(r"^  (\w[\w. ]*\w) +([\d,]+)", done.stdout, re.MULTILINE))
    assert list(rates) == [
        *("read and decode", "to numbers", "keep in a cache", "shuffle", "change images"),
        *("plain tf.data", "mlp"),
    ]
    assert all(int(rate.replace(",", "")) > 0 for rate in rates.values())
    assert re.search(r"^the limit is the (data|model), ", done.stdout, re.MULTILINE)


def test_a_cluster_is_not_measured(monkeypatch, capsys):
    config = '{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}}'
    monkeypatch.setenv("TF_CONFIG", config)
    assert main(["--bench"]) == 2
    assert "TF_CONFIG describes a cluster, and --bench measures" in capsys.readouterr().err


def test_a_model_without_a_loss(tmp_path, monkeypatch):
    from tests.data.numbered import stream
    from tfdist.data.bench import appetite
    from tfdist.errors import UsageError

    (tmp_path / "uncompiled.py").write_text(
        "from keras import Input, Sequential, layers\n"
        "def model(): return Sequential([Input(()), layers.Reshape((1,)), layers.Dense(1)])"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UsageError, match="'numbers' gives no num_classes, from which the loss of"):
        appetite._compiled("uncompiled:model", stream(5), None)
