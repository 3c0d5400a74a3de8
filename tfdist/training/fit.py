"""Keras' fit, evaluate and predict, over an engine: their arguments, callbacks and History."""

import warnings
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from tfdist.data.per_worker import PerWorker
from tfdist.errors import UsageError
from tfdist.training import internals
from tfdist.training.callbacks import Callbacks
from tfdist.training.feed import feed as make_feed
from tfdist.training.same import refuse_differences, spec_of

_MANY = 1 << 30


def fit(
    engine: Any,
    x: Any = None,
    y: Any = None,
    batch_size: int | None = None,
    epochs: int = 1,
    verbose: Any = "auto",
    callbacks: Any = None,
    validation_split: float = 0.0,
    validation_data: Any = None,
    shuffle: bool = True,
    class_weight: dict | None = None,
    sample_weight: Any = None,
    initial_epoch: int = 0,
    steps_per_epoch: int | None = None,
    validation_steps: int | None = None,
    validation_batch_size: int | None = None,
    validation_freq: Any = 1,
) -> keras.callbacks.History:
    """Train as `keras.Model.fit` does; `batch_size` is that of the global batch."""
    model = engine.model
    model._assert_compile_called("fit")
    if validation_split and validation_data is None:
        (x, y, sample_weight), validation_data = internals.train_validation_split(
            (x, y, sample_weight), validation_split=validation_split
        )
    feed = make_feed(
        engine.strategy,
        x,
        y,
        sample_weight,
        batch_size=batch_size,
        steps=steps_per_epoch,
        shuffle=shuffle,
        class_weight=class_weight,
        epoch=initial_epoch,
    )
    validation = None
    if validation_data is not None:
        validation = make_feed(
            engine.strategy,
            *internals.unpack(validation_data),
            batch_size=validation_batch_size or batch_size,
            steps=validation_steps,
        )
    refuse_differences(
        engine,
        "fit",
        epochs=epochs,
        initial_epoch=initial_epoch,
        steps=feed.steps,
        data=spec_of(feed.element_spec),
        validation_steps=validation and validation.steps,
        validation_data=validation and spec_of(validation.element_spec),
    )
    engine.ready(feed.element_spec)
    model.stop_training = False
    hooks = Callbacks(engine, callbacks, verbose=verbose, epochs=epochs, steps=feed.steps)
    with hooks.undone_on_failure():
        return _fit(engine, feed, validation, hooks, initial_epoch, epochs, validation_freq)


def _fit(
    engine: Any,
    feed: Any,
    validation: Any,
    hooks: Callbacks,
    initial_epoch: int,
    epochs: int,
    validation_freq: Any,
) -> keras.callbacks.History:
    model = engine.model
    hooks.on_train_begin()
    logs: dict = {}
    first, done, skips = hooks.start(initial_epoch)
    if skips and first < epochs:
        before = range(initial_epoch, first)
        _skip(feed, done, validation, [model._should_eval(e, validation_freq) for e in before])
    feed.at(first)
    for epoch in range(first, epochs):
        model.reset_metrics()
        hooks.on_epoch_begin(epoch)
        _epoch(engine, feed, "train", hooks, done)
        done = 0
        logs = engine.logs("train")
        if validation is not None and model._should_eval(epoch, validation_freq):
            logs |= {f"val_{k}": v for k, v in _evaluate(engine, validation, hooks).items()}
        hooks.on_epoch_end(epoch, logs)
        if engine.agree_to_stop(model.stop_training):
            model.stop_training = True
            break
    if model.optimizer is not None and epochs > 0:
        engine.finalize()
    hooks.on_train_end(logs)
    for each in (feed, validation):
        if each is not None:
            each.rewind()
    return model.history


def evaluate(
    engine: Any,
    x: Any = None,
    y: Any = None,
    batch_size: int | None = None,
    verbose: Any = "auto",
    sample_weight: Any = None,
    steps: int | None = None,
    callbacks: Any = None,
    return_dict: bool = False,
) -> Any:
    """Evaluate as `keras.Model.evaluate` does."""
    engine.model._assert_compile_called("evaluate")
    feed = make_feed(engine.strategy, x, y, sample_weight, batch_size=batch_size, steps=steps)
    data = spec_of(feed.element_spec)
    refuse_differences(engine, "evaluate", steps=feed.steps, data=data)
    engine.ready(feed.element_spec)
    hooks = Callbacks(engine, callbacks, verbose=verbose, epochs=1, steps=feed.steps)
    logs = _evaluate(engine, feed, hooks)
    feed.rewind()
    return logs if return_dict else engine.model._flatten_metrics_in_order(logs)


def predict(
    engine: Any,
    x: Any,
    batch_size: int | None = None,
    verbose: Any = "auto",
    steps: int | None = None,
    callbacks: Any = None,
) -> Any:
    """Predict as `keras.Model.predict` does; every task returns all rows, in order."""
    if isinstance(x, PerWorker):
        raise UsageError(
            f"predict() was given {x.name}, but returns all rows in the order of one dataset: give "
            "it that dataset"
        )
    feed = make_feed(engine.strategy, x, batch_size=batch_size, steps=steps)
    data = spec_of(feed.element_spec)
    refuse_differences(engine, "predict", steps=feed.steps, data=data)
    hooks = Callbacks(engine, callbacks, verbose=verbose, epochs=1, steps=feed.steps)
    engine.ready_to_predict(feed.element_spec)
    engine.model.stop_predicting = False
    hooks.on_predict_begin()
    outputs = []
    for step, batch in enumerate(feed.epoch()):
        if step == steps or engine.model.stop_predicting:
            break
        hooks.on_predict_batch_begin(step)
        outputs.append(engine.predict(batch))
        hooks.on_predict_batch_end(step, {"outputs": outputs[-1]})
    hooks.on_predict_end()
    feed.rewind()
    if not outputs:
        raise ValueError("predict() received no data; expected at least one batch.")
    return tf.nest.map_structure(lambda *parts: _concatenate(parts), *outputs)


def on_batch(
    engine: Any,
    kind: str,
    x: Any,
    y: Any = None,
    sample_weight: Any = None,
    class_weight: dict | None = None,
    return_dict: bool = False,
) -> Any:
    """Train or evaluate one global batch, which is split over the replicas."""
    engine.model._assert_compile_called(f"{kind}_on_batch")
    if class_weight is not None:
        if sample_weight is not None:
            raise ValueError("Give sample_weight or class_weight, not both.")
        sample_weight = internals.class_weight_to_sample_weights(y, class_weight)
    batch = tf.nest.map_structure(
        lambda leaf: None if leaf is None else tf.convert_to_tensor(leaf), (x, y, sample_weight)
    )
    engine.ready(batch)
    engine.model.reset_metrics()
    engine.on_batch(kind, batch)
    engine.meet()
    logs = engine.logs(kind)
    return logs if return_dict else engine.model._flatten_metrics_in_order(logs)


def predict_on_batch(engine: Any, x: Any) -> Any:
    """Predict one global batch, which is split over the replicas."""
    batch = (tf.nest.map_structure(tf.convert_to_tensor, x),)
    engine.ready_to_predict(batch)
    return tf.nest.map_structure(lambda part: _concatenate((part,)), engine.predict(batch))


def _skip(feed: Any, steps: int, validation: Any, evaluated: list[bool]) -> None:
    """Let data go on as if epochs had been read here: a shuffle counts its iterators."""
    for each in evaluated:
        feed.pass_over()
        if validation is not None and each:
            validation.rewind()
            validation.pass_over()
    feed.skip(steps)


def _epoch(engine: Any, feed: Any, kind: str, hooks: Callbacks, done: int = 0) -> None:
    """Run one epoch; callbacks that look at batches are called around each call of steps."""
    run = engine.train if kind == "train" else engine.test
    engine.begin_epoch()
    iterator, steps, every = feed.epoch(), feed.steps or _MANY, hooks.every(kind)
    whole = stop = False
    while done < steps and not whole and not stop:
        if left_out := hooks.leave_out(kind, done):
            done += sum(next(iterator, None) is not None for _ in range(left_out))
            hooks.pause(kind, done)
            continue
        limit = hooks.limit(kind, done)
        size = min(every or limit, steps - done)
        if every:
            hooks.batch_begin(kind, done)
        ran = _run(
            run, iterator, size, bool(every), lambda n, done=done: hooks.tick(kind, done + n - 1)
        )
        whole, done = (ran < size if every else not ran), done + ran
        hooks.reach(kind, done)
        if every and ran:
            hooks.batch_end(kind, done - 1)
            stop = engine.agree_to_stop(engine.asked_to_stop(kind))
        if kind == "train" and ran >= limit:
            engine.meet()  # who is told next, such as what saves, sees one model
        if ran:
            hooks.pause(kind, done)
    if kind == "train":
        engine.meet()
    hooks.reach(kind, done, ended=True)
    feed.end(done, whole or done == steps)


def _run(run: Any, iterator: Any, steps: int, exactly: bool, tick: Any) -> int:
    """Run up to `steps` steps in one call, or exactly so many unless the data ends."""
    done = 0
    while done < steps:
        ran = run(iterator, steps - done)
        if not ran:
            break
        done += ran
        tick(done)
        if not exactly:
            break
    return done


def _evaluate(engine: Any, feed: Any, hooks: Callbacks) -> dict:
    engine.ready(feed.element_spec)
    engine.model.stop_evaluating = False
    hooks.on_test_begin()
    engine.model.reset_metrics()
    feed.rewind()
    _epoch(engine, feed, "test", hooks)
    logs = engine.logs("test")
    hooks.on_test_end(logs)
    return logs


def _concatenate(parts: tuple) -> Any:
    if isinstance(parts[0], tf.RaggedTensor):
        return tf.concat(parts, 0)
    return np.concatenate([np.asarray(p) for p in parts], 0)


def warn_if_unused(model: keras.Model) -> None:
    """Say that a model without trainable weights will not learn."""
    if not model.trainable_weights:
        warnings.warn("The model does not have any trainable weights.", stacklevel=3)
