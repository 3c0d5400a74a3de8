"""Where each variable lives: weights and slots with the strategy, counts with the process."""

from collections.abc import Iterable

import keras
import tensorflow as tf

from tfdist.training import internals


def place(model: keras.Model, strategy: tf.distribute.Strategy) -> None:
    """Put every variable of a model where it belongs, keeping its value.

    Weights and optimizer slots belong to the strategy, wherever the model was built, compiled or
    loaded. The state of metrics, the learning rate and the number of steps belong to the process:
    they are written only with values that are equal everywhere, so reading them never waits.
    Under parameter servers the workers need the last two, so these live on the servers.
    """
    optimizer = getattr(model, "optimizer", None)
    served = isinstance(strategy, tf.distribute.ParameterServerStrategy)
    own = {id(v): v for v in _of_process(model, None if served else optimizer)}
    shared = list(model.variables) + _variables(optimizer)
    with internals.outside_strategy():
        for variable in own.values():
            if not _is_plain(variable):
                internals.replace_raw(variable)
    with strategy.scope():
        for variable in {id(v): v for v in shared if id(v) not in own}.values():
            if not _is_shared(variable, strategy):
                internals.replace_raw(variable)
    for each in _with_inner(optimizer):
        _reindex(each, strategy)


def _of_process(model: keras.Model, optimizer: keras.Optimizer | None) -> Iterable[keras.Variable]:
    if model.compiled:
        for metric in model.metrics:
            yield from metric.variables
    for each in _with_inner(optimizer):
        yield each._iterations
        if isinstance(each._learning_rate, keras.Variable):
            yield each._learning_rate


def _with_inner(optimizer: keras.Optimizer | None) -> list:
    if optimizer is None:
        return []
    inner = getattr(optimizer, "inner_optimizer", None)
    return [optimizer] + ([inner] if inner is not None else [])


def _variables(optimizer: keras.Optimizer | None) -> list:
    return list(optimizer.variables) if optimizer is not None else []


def _is_plain(variable: keras.Variable) -> bool:
    """Return whether a variable belongs to no strategy."""
    raw = internals.raw(variable)
    distributed = isinstance(raw, tf.distribute.DistributedValues)
    return not distributed and "/job:ps" not in raw.device


def _is_shared(variable: keras.Variable, strategy: tf.distribute.Strategy) -> bool:
    """Return whether a variable belongs to the strategy."""
    if internals.is_default(strategy):
        return _is_plain(variable)
    return strategy.extended.variable_created_in_scope(internals.raw(variable))


def _reindex(optimizer: keras.Optimizer, strategy: tf.distribute.Strategy) -> None:
    """Tell an optimizer, which knows variables by their TensorFlow identity, of the new ones."""
    optimizer._distribution_strategy = strategy
    if optimizer.built and hasattr(optimizer, "_trainable_variables"):
        known = enumerate(optimizer._trainable_variables)
        optimizer._trainable_variables_indices = {optimizer._var_key(v): i for i, v in known}
