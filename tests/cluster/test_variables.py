"""The one place where the environment is read."""

from tfdist.cluster.variables import environment, variable


def test_a_variable_and_its_default(monkeypatch):
    monkeypatch.setenv("TFDIST_TRIAL", "1")
    assert variable("TFDIST_TRIAL") == "1"
    assert environment()["TFDIST_TRIAL"] == "1"
    monkeypatch.delenv("TFDIST_TRIAL")
    assert variable("TFDIST_TRIAL") is None
    assert variable("TFDIST_TRIAL", "2") == "2"
