import pytest

from tfdist.errors import UsageError
from tfdist.models import build

MODULE = """
import keras

def functional(input_shape, num_classes):
    inputs = keras.Input(input_shape)
    return keras.Model(inputs, keras.layers.Dense(num_classes)(inputs))

def fixed(): return keras.Sequential([keras.Input((4,)), keras.layers.Dense(3)])
def without_input(num_classes): return keras.Sequential([keras.layers.Dense(num_classes)])
def seeded(seed): return keras.Sequential([keras.Input((seed,)), keras.layers.Dense(3)])

class Subclassed(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(5)
    def call(self, x):
        return self.dense(x)

class Broken(Subclassed):
    def call(self, x):
        raise ValueError("too narrow")

def no_model(): return keras.layers.Dense(3)
def wants(width): return None
"""


@pytest.fixture(autouse=True)
def module(tmp_path, monkeypatch):
    (tmp_path / "own_model_example.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        ("functional", [(4, 9), (9,)]),
        ("fixed", [(4, 3), (3,)]),
        ("without_input", [(4, 9), (9,)]),
        ("seeded", [(6, 3), (3,)]),
        ("Subclassed", [(4, 5), (5,)]),
    ],
)
def test_all_variables_exist(function, shapes):
    model = build(f"own_model_example:{function}", (4,), 9, seed=6)
    assert [each.shape for each in model.weights] == shapes


@pytest.mark.filterwarnings("ignore:Layer 'broken'", "ignore:`build")
@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("no_model", "returned a value of type keras.*Dense, but a model of Keras 3"),
        ("Broken", r"cannot be built for examples of shape \(4,\)"),
        ("wants", "needs the argument 'width'"),
        ("functionel", "no function 'functionel'; did you mean 'functional'"),
    ],
)
def test_what_a_function_may_not_return(function, message):
    with pytest.raises(UsageError, match=message):
        build(f"own_model_example:{function}", (4,), 9)
