"""Settings that must be in the environment before TensorFlow loads."""

import os

from tfdist.cluster import processor


def test_sets_what_is_not_set(monkeypatch):
    monkeypatch.delenv("TF_CPP_MIN_LOG_LEVEL", raising=False)
    monkeypatch.setenv("TF_ENABLE_ONEDNN_OPTS", "0")
    settings = processor.set_defaults()
    assert settings == {"TF_CPP_MIN_LOG_LEVEL": "2", "TF_ENABLE_ONEDNN_OPTS": "0"}
    assert os.environ["TF_CPP_MIN_LOG_LEVEL"] == "2"
    assert os.environ["TF_ENABLE_ONEDNN_OPTS"] == "0"
