"""Where each variable lives: weights and slots with the strategy, counts with the process."""

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
    metrics = [v for m in model.metrics for v in m.variables] if model.compiled else []
    _to_process(metrics)
    own = {id(v) for v in metrics}
    _to_strategy([v for v in model.variables if id(v) not in own], strategy)
    if getattr(model, "optimizer", None) is not None:
        place_optimizer(model.optimizer, model.trainable_variables, strategy)


def place_optimizer(
    optimizer: keras.Optimizer, variables: list, strategy: tf.distribute.Strategy
) -> None:
    """Put an optimizer's variables where they belong; builds it when it is not built.

    Args:
        optimizer: Any optimizer, made anywhere.
        variables: The weights it updates, already in their place.
        strategy: The strategy they belong to.
    """
    own: list[keras.Variable] = []
    for each in (optimizer, getattr(optimizer, "inner_optimizer", None)):
        if each is not None:
            each._distribution_strategy = strategy
            own += [v for v in (each._iterations, each._learning_rate) if _is_variable(v)]
    if variables and not optimizer.built:
        with strategy.scope():
            internals.build_optimizer(optimizer, variables)
    served = isinstance(strategy, tf.distribute.ParameterServerStrategy)
    if not served:
        _to_process(own)
    kept = set() if served else {id(v) for v in own}
    _to_strategy([v for v in optimizer.variables if id(v) not in kept], strategy)
    for each in (optimizer, getattr(optimizer, "inner_optimizer", None)):
        if each is not None and each.built:
            # An optimizer knows variables by their TensorFlow identity: tell it of the new ones.
            known = enumerate(each._trainable_variables)
            each._trainable_variables_indices = {each._var_key(v): i for i, v in known}


def _to_process(variables: list) -> None:
    with internals.outside_strategy():
        for variable in variables:
            if not _is_plain(variable):
                internals.replace_raw(variable)


def _to_strategy(variables: list, strategy: tf.distribute.Strategy) -> None:
    with strategy.scope():
        for variable in variables:
            if not _is_shared(variable, strategy):
                internals.replace_raw(variable)


def _is_variable(value: object) -> bool:
    return isinstance(value, keras.Variable)


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
