import pytest

from tfdist import names
from tfdist.errors import UsageError

MODULE = """
nothing = None
def takes_none(): return "none"
def takes_one(seed): return seed
def takes_any(**offered): return offered
def needs_more(path, seed): return path
"""


@pytest.fixture(autouse=True)
def module(tmp_path, monkeypatch):
    (tmp_path / "names_example.py").write_text(MODULE)
    (tmp_path / "names_broken.py").write_text("import names_that_is_not_there")
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.parametrize(
    ("function", "expected"),
    [("takes_none", "none"), ("takes_one", 7), ("takes_any", {"seed": 7, "size": 1})],
)
def test_a_function_gets_what_it_takes(function, expected):
    assert names.call(f"names_example:{function}", seed=7, size=1) == expected


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("names_exampel:f", "no module named 'names_exampel' was found"),
        ("names_example.sub:f", "no module named 'names_example.sub' was found"),
        ("names_example:takes_noone", "no function 'takes_noone'; did you mean 'takes_none'"),
        ("names_example:nothing", "no function 'nothing'"),
        ("names_example:needs_more", "needs the argument 'path', but is offered only seed"),
    ],
)
def test_a_function_that_cannot_be_called(name, message):
    with pytest.raises(UsageError, match=message):
        names.call(name, seed=7)


def test_an_error_inside_the_module_is_not_hidden():
    with pytest.raises(ModuleNotFoundError, match="names_that_is_not_there"):
        names.call("names_broken:f")


def test_the_working_directory_is_searched(tmp_path, monkeypatch):
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "names_local.py").write_text("def f(): return 'found'")
    monkeypatch.chdir(folder)
    monkeypatch.setattr("sys.path", [path for path in __import__("sys").path if path])
    assert names.call("names_local:f") == "found"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("module:function", True),
        ("package.module:function", True),
        ("digits", False),
        ("mnist:3.0.1", False),
        ("emnist/letters", False),
        ("folder:/data", False),
        (":function", False),
    ],
)
def test_which_names_are_functions(name, expected):
    assert names.is_function(name) is expected


def test_suggestions_ignore_case_and_may_be_none():
    assert names.suggestion("MNIST", ["mnist", "cifar10"]) == "; did you mean 'mnist'?"
    assert names.suggestion("xyz", ["mnist", "cifar10"]) == ""
