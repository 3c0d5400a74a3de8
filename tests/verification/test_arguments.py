"""What `tfdist.verify` is given."""

import inspect

import keras
import pytest

import tfdist
from tests.conformance.strategies import STRATEGIES
from tests.processes import run_alone
from tests.verification import steps
from tfdist.errors import UsageError

NAMES = """
import sys
import tfdist
before = tfdist.verify
import tfdist.verify
from tfdist import verify
from tfdist.verify import verify as also, main
print(before is tfdist.verify is verify is also, callable(before), "tensorflow" in sys.modules)
"""


def dense():
    return keras.Sequential([keras.layers.Input((steps.FEATURES,)), keras.layers.Dense(1)])


def test_the_module_is_the_function_whoever_imports_it_first():
    assert run_alone(NAMES).stdout == "True True False\n"


def test_the_module_shows_the_arguments():
    names = list(inspect.signature(tfdist.verify).parameters)
    assert names == ["build", "dataset", "strategy", "compile", "steps", "seed"]


def test_the_current_strategy_is_that_of_the_scope():
    with STRATEGIES["mirrored"].make().scope():
        report = tfdist.verify(steps.compiled(steps.OwnMean), steps.data(), steps=2)
    assert (report.strategy, report.replicas, report.verdict) == ("MirroredStrategy", 2, "equal")


@pytest.mark.parametrize(
    ("build", "arguments", "said"),
    [
        (dense, {}, "returned a model that is not compiled: compile it there, or give compile="),
        (lambda: 3, {}, r"build\(\) returned int, but a keras.Model is expected: return the model"),
        (None, {}, "takes a function that returns a new model each time, but received NoneType"),
        (dense(), {}, "but received Sequential: give the function that builds it"),
        (dense, {"steps": 0}, "steps is 0, but must be 1 or more: give one such as 20"),
    ],
)
def test_mistakes(build, arguments, said):
    with pytest.raises(UsageError, match=said):
        tfdist.verify(build, steps.data(), strategy=STRATEGIES["one_device"].make(), **arguments)


def test_one_model_for_all_trainings_is_refused():
    model = dense()
    model.compile("sgd", "mse")
    with pytest.raises(UsageError, match="the same model twice, and it is trained already"):
        tfdist.verify(
            lambda: model, steps.data(), strategy=STRATEGIES["one_device"].make(), steps=2
        )


def test_other_models_in_each_call_are_refused():
    sizes = iter([2, 3])

    def build():
        model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(next(sizes))])
        model.compile("sgd", "mse")
        return model

    with pytest.raises(UsageError, match="it must return the same model each time"):
        tfdist.verify(build, steps.data(), strategy=STRATEGIES["one_device"].make(), steps=2)


def test_a_global_sum_is_of_a_scalar():
    assert float(tfdist.global_sum(6.0, per=4)) == 1.5
    with pytest.raises(UsageError, match=r"but its value has the shape \(2,\): sum it over"):
        tfdist.global_sum([1.0, 2.0])
