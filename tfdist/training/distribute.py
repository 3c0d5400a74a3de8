"""`tfdist.distribute`: gives a Keras model fit, evaluate and predict that keep the promise."""

import functools
from typing import Any

import keras
import tensorflow as tf

from tfdist.errors import UsageError
from tfdist.training import fit as fitting
from tfdist.training import internals
from tfdist.training.capture import teach_layers
from tfdist.training.coordinator import Coordinated
from tfdist.training.engine import Engine
from tfdist.training.factored import teach_matmul
from tfdist.training.guard import guarded
from tfdist.training.own_apply import teach_optimizers
from tfdist.training.rows import teach_take
from tfdist.training.share import teach_keras


def distribute(
    model: keras.Model, *, sync_period: int | None = None, auto_jit: bool = False
) -> keras.Model:
    """Return the same model, whose fit, evaluate and predict now give the numbers of one device.

    Call it inside `strategy.scope()`, before or after `compile()`, on a Sequential, functional or
    subclassed Keras 3 model. The model may have been built or loaded anywhere.

    Args:
        model: What is trained.
        sync_period: With multi_worker, let each worker train apart on its part of the batches, and
            average weights, slots and moving statistics every so many steps and after each epoch,
            weighted by the examples each has seen. It saves exchanges, and gives other numbers
            than one device, except with 1 and plain SGD. None exchanges gradients at each step.
        auto_jit: Compute the first training step both with and without XLA, taking neither, and
            let XLA compile the steps if that is faster and yields the same gradient; one line on
            standard error says which. Instead of `jit_compile`; parameter servers know none.

    Raises:
        UsageError: `sync_period` is below 1, `model` is no Keras 3 model, or this Keras is one
            that tfdist does not know.
    """
    if not isinstance(model, keras.Model):
        raise UsageError(
            f"tfdist.distribute() takes a Keras 3 model, but received "
            f"{type(model).__module__}.{type(model).__name__}; build it with `import keras`."
        )
    if sync_period is not None and sync_period < 1:
        raise UsageError(f"sync_period is {sync_period}, but must be 1 or more: give a larger one.")
    internals.check()
    teach_keras()
    teach_layers()
    teach_matmul()
    teach_optimizers()
    teach_take()
    engine = _engine(model, tf.distribute.get_strategy(), sync_period, auto_jit)
    model._distribute_strategy = None if internals.is_default(engine.strategy) else engine.strategy
    _replace(model, "compile", _compile(model, engine))
    for name in ("fit", "evaluate", "predict", "predict_on_batch"):
        function = functools.partial(getattr(fitting, name), engine)
        _replace(model, name, guarded(function, name))
    for kind in ("train", "test"):
        function = functools.partial(fitting.on_batch, engine, kind)
        _replace(model, f"{kind}_on_batch", guarded(function, f"{kind}_on_batch"))
    return model


def _engine(
    model: keras.Model, strategy: tf.distribute.Strategy, sync_period: int | None, auto_jit: bool
) -> Engine:
    if isinstance(strategy, tf.distribute.ParameterServerStrategy):
        return Coordinated(model, strategy)
    return Engine(model, strategy, sync_period, auto_jit)


def _compile(model: keras.Model, engine: Engine) -> Any:
    """Return a compile() that runs under the strategy's scope wherever it is called."""

    @functools.wraps(type(model).compile)
    def compile_in_scope(*args: Any, **kwargs: Any) -> None:
        with engine.strategy.scope():
            type(model).compile(model, *args, **kwargs)

    return compile_in_scope


def _replace(model: keras.Model, name: str, function: Any) -> None:
    """Set a method of this one model, past Keras' tracking of attributes."""
    functools.update_wrapper(function, getattr(type(model), name))
    object.__setattr__(model, name, function)
