"""What is a model's state, and whose is it?"""

import keras
import numpy as np
import pytest

from tests.checkpoint.small import adam, model, momentum
from tfdist.checkpoint.variables import METRICS, from_file, keys, restore, values
from tfdist.errors import UsageError


def built(optimizer=adam, **arguments):
    net = model(optimizer(), **arguments)
    net.optimizer.build(net.trainable_variables)
    return net


def test_everything_is_there():
    found = values(built())
    kinds = [value.kind for value in found]
    paths = "\n".join(value.path for value in found)
    assert sorted(set(kinds)) == ["metric", "optimizer", "seed", "weight"] or "seed" not in kinds
    for part in (
        *("moving_variance", "seed_generator_state", "iteration", "learning_rate"),
        *("velocity", "average", "gradient_accumulator"),
    ):
        assert part in paths
    assert len(found) == len(set(map(id, found)))


def test_the_loss_scale_is_there():
    scaled = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(momentum=0.9))
    paths = [value.path for value in values(built(lambda: scaled))]
    assert any("dynamic_scale" in path for path in paths)
    assert any("step_counter" in path for path in paths)
    assert any("momentum" in path for path in paths)


def test_values_come_back_whatever_the_names_numbers():
    first, second = built(), built()  # dense, dense_1 and then dense_2, dense_3
    saved = values(first)
    restore(second, "here", saved, metrics=True)
    for ours, theirs in zip(values(second), saved, strict=True):
        np.testing.assert_array_equal(ours.array, theirs.array)


def test_dtypes_that_numpy_does_not_know_survive_a_file(tmp_path):
    keras.config.set_dtype_policy("bfloat16")
    try:
        saved = values(built(momentum))
    finally:
        keras.config.set_dtype_policy("float32")
    np.savez(tmp_path / "state.npz", **keys(saved))
    with np.load(tmp_path / "state.npz") as file:
        read = from_file(file, [value.described for value in saved])
    assert "bfloat16" in {str(value.array.dtype) for value in read}
    for before, after in zip(saved, read, strict=True):
        assert before.array.dtype == after.array.dtype
        np.testing.assert_array_equal(before.array, after.array)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (lambda: built(units=9), r"weight '\S*dense/kernel' of shape \(8, 8\) .* \(8, 9\)"),
        (lambda: built(momentum), "it has optimizer 'adam/.* where this model has optimizer 'sgd"),
    ],
)
def test_another_model_is_refused_with_the_first_difference(other, said):
    with pytest.raises(UsageError, match=f"^F is of another model, optimizer or metrics: .*{said}"):
        restore(other(), "F", values(built()), metrics=False)


def test_fewer_variables_are_refused():
    with pytest.raises(UsageError, match="it has nothing more where this model has weight"):
        restore(built(), "F", values(built(), ("weight",))[:-1], metrics=False)


def test_metrics_count_only_in_the_middle_of_an_epoch():
    net = built()
    without = [value for value in values(net) if value.kind != METRICS]
    restore(net, "F", without, metrics=False)
    with pytest.raises(UsageError, match="it has nothing more where this model has metric"):
        restore(net, "F", without, metrics=True)
