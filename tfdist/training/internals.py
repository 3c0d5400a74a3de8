"""Every place where tfdist reaches into Keras or TensorFlow, so that one file knows their insides.

Written for Keras 3.12 to 3.15 and TensorFlow 2.19 to 2.21. `missing()` names what a newer release
has moved; a test and the first `tfdist.distribute()` call it.
"""

import contextlib
import functools
import inspect
import threading
from collections.abc import Callable, Iterator
from typing import Any

import keras
import tensorflow as tf
from keras.src import ops as keras_ops
from keras.src.backend import compute_output_spec
from keras.src.backend.common import global_state
from keras.src.backend.tensorflow import nn as keras_nn
from keras.src.backend.tensorflow import random as keras_random
from keras.src.backend.tensorflow import trainer as keras_trainer
from keras.src.losses import loss as keras_loss
from keras.src.metrics import reduction_metrics
from keras.src.optimizers.base_optimizer import BaseOptimizer
from keras.src.optimizers.loss_scale_optimizer import LossScaleOptimizer
from keras.src.random import seed_generator
from keras.src.trainers import data_adapters
from keras.src.trainers.compile_utils import CompileMetrics as CompileMetrics
from keras.src.trainers.data_adapters import array_slicing, data_adapter_utils
from keras.src.utils.python_utils import pythonify_logs as pythonify_logs
from tensorflow.python.distribute import distribute_lib
from tensorflow.python.distribute.collective_all_reduce_strategy import CollectiveAllReduceExtended
from tensorflow.python.eager.polymorphic_function.atomic_function import AtomicFunction
from tensorflow.python.framework import ops

from tfdist.errors import UsageError

# owner, attribute, the arguments tfdist relies on
_RELIED_ON: tuple[tuple[Any, str, tuple[str, ...]], ...] = (
    (keras_loss, "reduce_weighted_values", ("values", "sample_weight", "mask", "reduction")),
    (keras_loss, "scale_loss_for_distribution", ("value",)),
    (keras_loss, "unscale_loss_for_distribution", ("value",)),
    (keras_loss, "apply_mask", ("sample_weight", "mask", "dtype", "reduction")),
    (keras_loss, "squeeze_or_expand_to_same_rank", ("x1", "x2")),
    (reduction_metrics, "reduce_to_samplewise_values", ("values", "sample_weight", "reduce_fn")),
    (keras_nn, "_compute_moments_sync", ("x", "axes", "keepdims")),
    (keras_ops, "matmul", ("x1", "x2")),
    (keras_ops, "take", ("x", "indices", "axis")),
    (keras.Layer, "add_loss", ("loss",)),
    (keras.Layer, "_get_own_losses", ()),
    (keras.Layer, "_clear_losses", ()),
    (BaseOptimizer, "apply", ("grads", "trainable_variables")),
    (BaseOptimizer, "_get_variable_index", ("variable",)),
    (LossScaleOptimizer, "apply", ("grads", "trainable_variables")),
    (LossScaleOptimizer, "_common_apply", ("grads", "trainable_variables")),
    (keras_trainer.TensorFlowTrainer, "train_step", ("data",)),
    (keras_trainer.TensorFlowTrainer, "_symbolic_build", ("data_batch",)),
    (keras_trainer.TensorFlowTrainer, "_compute_loss", ("x", "y", "y_pred", "sample_weight")),
    (data_adapters, "get_data_adapter", ("x", "y", "sample_weight", "batch_size")),
    (array_slicing, "train_validation_split", ("arrays", "validation_split")),
    (data_adapter_utils, "unpack_x_y_sample_weight", ("data",)),
    (data_adapter_utils, "class_weight_to_sample_weights", ("y", "class_weight")),
    (keras.StatelessScope, "add_update", ("update",)),
    (keras.StatelessScope, "get_current_value", ("variable",)),
    (keras.Variable, "_initialize", ("value",)),
    (keras.callbacks.ModelCheckpoint, "_save_model", ()),
    (keras.callbacks.BackupAndRestore, "_save_model", ()),
    (ops.Graph, "_variable_creator_stack", ()),
    (ops.Graph, "_get_function", ("name",)),
    (AtomicFunction, "graph", ()),
    (distribute_lib, "_push_per_thread_mode", ("context",)),
    (distribute_lib, "_pop_per_thread_mode", ()),
    (distribute_lib, "_get_default_replica_mode", ()),
    (
        CollectiveAllReduceExtended,
        "_get_variable_creator_initial_value",
        ("replica_id", "device", "primary_var"),
    ),
    (keras_random, "normal", ("shape", "mean", "stddev", "dtype", "seed")),
    (keras_random, "truncated_normal", ("shape", "mean", "stddev", "dtype", "seed")),
    (keras_random, "uniform", ("shape", "minval", "maxval", "dtype", "seed")),
    (keras_random, "randint", ("shape", "minval", "maxval", "dtype", "seed")),
    (keras_random, "dropout", ("inputs", "rate", "noise_shape", "seed")),
    (keras_random, "categorical", ("logits", "num_samples", "dtype", "seed")),
    (keras_random, "shuffle", ("x", "axis", "seed")),
    (keras_random, "gamma", ("shape", "alpha", "dtype", "seed")),
    (keras_random, "binomial", ("shape", "counts", "probabilities", "dtype", "seed")),
    (keras_random, "beta", ("shape", "alpha", "beta", "dtype", "seed")),
    (global_state, "get_global_attribute", ("name",)),
    (global_state, "set_global_attribute", ("name", "value")),
)

unpack = data_adapter_utils.unpack_x_y_sample_weight
class_weight_to_sample_weights = data_adapter_utils.class_weight_to_sample_weights
train_validation_split = array_slicing.train_validation_split
get_data_adapter = data_adapters.get_data_adapter
apply_mask = keras_loss.apply_mask
same_rank = keras_loss.squeeze_or_expand_to_same_rank
KerasTrainer = keras_trainer.TensorFlowTrainer


def missing() -> list[str]:
    """Return a sentence for each thing tfdist relies on that this Keras or TensorFlow lacks."""
    found = []
    for owner, name, arguments in _RELIED_ON:
        where = f"{getattr(owner, '__module__', '')}.{owner.__name__}".lstrip(".")
        target = getattr(owner, name, None)
        if target is None:
            found.append(f"{where} has no {name}")
            continue
        if not callable(target):
            continue
        known = inspect.signature(inspect.unwrap(target)).parameters
        found += [f"{where}.{name} takes no {a!r}" for a in arguments if a not in known]
    return found


def check() -> None:
    """Raise UsageError when the installed Keras or TensorFlow has moved what tfdist relies on."""
    gone = missing()
    if gone:
        raise UsageError(
            f"tfdist does not know Keras {keras.__version__} with TensorFlow {tf.__version__}: "
            f"{gone[0]}; install keras>=3.12,<3.16 and tensorflow>=2.19,<2.22, or a newer tfdist."
        )


def intercept(owner: Any, name: str, active: Callable[[], Any], instead: Callable) -> None:
    """Call `instead(active(), original, ...)` for `owner.name(...)` while `active()` is not None.

    Intercepting twice is the same as once.
    """
    original = getattr(owner, name)
    if getattr(original, "_tfdist", False):
        return

    @functools.wraps(original)
    def either(*args: Any, **kwargs: Any) -> Any:
        now = active()
        if now is None:
            return original(*args, **kwargs)
        return instead(now, original, *args, **kwargs)

    either._tfdist = True  # type: ignore[attr-defined]
    setattr(owner, name, either)


@contextlib.contextmanager
def outside_strategy() -> Iterator[None]:
    """Leave the strategy's scope of this thread for a while, its way to make variables too."""
    graph = ops.get_default_graph()
    creators, graph._variable_creator_stack = graph._variable_creator_stack, []
    distribute_lib._push_per_thread_mode(distribute_lib._get_default_replica_mode())
    try:
        yield
    finally:
        distribute_lib._pop_per_thread_mode()
        graph._variable_creator_stack = creators


def inner_graph(op: Any, name: str) -> Any:
    """Return the graph of a function that an operation calls, by the name of its attribute."""
    return op.graph._get_function(op.get_attr(name).name).graph


def is_default(strategy: tf.distribute.Strategy) -> bool:
    """Return whether a strategy is the one that TensorFlow has when none is made."""
    with outside_strategy():
        return strategy is tf.distribute.get_strategy()


@contextlib.contextmanager
def outside_stateless_scope() -> Iterator[None]:
    """Let assignments of this thread reach their variables for a while."""
    scope = stateless_scope()
    global_state.set_global_attribute("stateless_scope", None)
    try:
        yield
    finally:
        global_state.set_global_attribute("stateless_scope", scope)


def stateless_scope() -> Any:
    """Return the stateless scope of this thread, None when there is none."""
    return global_state.get_global_attribute("stateless_scope")


def global_seed_state() -> keras.Variable | None:
    """Return the state of the seed generator that unseeded random operations share."""
    generator = global_state.get_global_attribute("global_seed_generator")
    return None if generator is None else generator.state


def global_seed() -> Any:
    """Return the seed generator that unseeded random operations of this thread share."""
    with outside_strategy():
        return seed_generator.global_seed_generator()


def use_global_seed(generator: Any) -> None:
    """Let this thread share a seed generator: Keras keeps one for each thread."""
    global_state.set_global_attribute(seed_generator.GLOBAL_SEED_GENERATOR, generator)


def raw(variable: keras.Variable) -> tf.Variable:
    """Return the TensorFlow variable (of the strategy) behind a Keras variable."""
    return variable._value


def is_cut(variable: keras.Variable) -> bool:
    """Whether a strategy keeps a variable in parts: a ShardedVariable, which has no handle."""
    return type(variable._value).__name__ == "ShardedVariable"


def replace_raw(variable: keras.Variable) -> None:
    """Make a new TensorFlow variable of the same value, in the scope that is active now."""
    variable._initialize(tf.convert_to_tensor(variable._value))


def let_go(dataset: tf.data.Dataset, iterator: Any) -> None:
    """Destroy what an iterator of a dataset holds, in a thread of its own.

    To destroy it waits, now and then, for the end of a pause of tf.data's autotuning, and these
    double from 10 ms to 60 s: an epoch could take twice its time.
    """
    nothing = dataset.take(0)._variant_tensor
    replace = functools.partial(tf.raw_ops.MakeIterator, dataset=nothing)
    resource = getattr(iterator, "_iterator_resource", None)
    if resource is not None:
        # No daemon: Python waits for it, and TensorFlow is not taken down under it.
        threading.Thread(target=lambda: replace(iterator=resource)).start()


def output_spec(model: keras.Model, x: Any) -> Any:
    """Return the model's symbolic outputs for inputs of this structure."""

    def leaf(spec: Any) -> Any:
        return None if spec is None else keras.KerasTensor(spec.shape, spec.dtype.name)

    return compute_output_spec(model, tf.nest.map_structure(leaf, x), training=False)


def build_optimizer(optimizer: Any, variables: list) -> None:
    """Create an optimizer's variables under its name, as its first step would."""
    if not optimizer.built:
        with keras.name_scope(optimizer.name, caller=optimizer):
            optimizer.build(variables)


def count_exactly(optimizer: Any) -> None:
    """Let workers that apply at the same time count each step: Keras assigns count + 1."""
    for each in (optimizer, getattr(optimizer, "inner_optimizer", None)):
        if each is not None:
            each._iterations.assign_add = raw(each._iterations).assign_add


def examples_counted(model: keras.Model) -> float | None:
    """Return the examples of this epoch so far, which the loss counts; None where it does not."""
    tracker = getattr(model, "_loss_tracker", None)
    count = getattr(tracker, "count", None)
    return None if count is None else float(tf.convert_to_tensor(raw(count)).numpy())


def apply_once(optimizer: Any, gradients: list, variables: list) -> None:
    """Apply the global gradient in the cross-replica context, with loss scaling if there is any."""
    if isinstance(optimizer, LossScaleOptimizer):
        build_optimizer(optimizer, variables)
        optimizer._common_apply(gradients, variables)
    else:
        optimizer.apply(gradients, variables)
