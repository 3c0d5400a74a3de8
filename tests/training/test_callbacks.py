import keras
import pytest

from tfdist.training.callbacks import Callbacks, LazyLogs


class Engine:
    """A stand-in that counts how often logs are fetched."""

    def __init__(self, is_chief=True):
        self.is_chief = is_chief
        self.model = keras.Sequential([keras.layers.Dense(1)])
        self.model.compile("sgd", "mse")
        self.fetched = 0

    def logs(self, kind):
        self.fetched += 1
        return {"loss": 1.0}


def make(callbacks=None, is_chief=True, verbose=0):
    engine = Engine(is_chief)
    return engine, Callbacks(engine, callbacks, verbose=verbose, epochs=1, steps=4)


def test_logs_are_fetched_once_and_only_when_somebody_looks():
    engine, _ = make()
    logs = LazyLogs(lambda: engine.logs("train"))
    assert engine.fetched == 0
    assert logs["loss"] == 1.0
    assert dict(logs) == {"loss": 1.0} == {**logs} == logs.copy()
    assert engine.fetched == 1


def test_a_batch_callback_that_does_not_look_costs_no_fetch():
    calls = []

    class Count(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            calls.append(batch)

    engine, hooks = make([Count()])
    assert hooks.every("train") == 1
    assert hooks.every("test") is None
    hooks.batch_begin("train", 3)
    hooks.batch_end("train", 3)
    assert calls == [3]
    assert engine.fetched == 0


def test_callbacks_of_epochs_ask_for_no_batches(tmp_path):
    callbacks = [
        keras.callbacks.EarlyStopping(),
        keras.callbacks.ModelCheckpoint(tmp_path / "model.keras"),
        keras.callbacks.BackupAndRestore(tmp_path / "backup"),
    ]
    _, hooks = make(callbacks)
    assert hooks.every("train") is None


@pytest.fixture
def of_mlflow():
    """A stand-in for mlflow.tensorflow.MlflowCallback, which has these methods and this flag."""

    class MlflowCallback(keras.callbacks.Callback):
        def __init__(self, log_every_epoch=True):
            super().__init__()
            self.log_every_epoch = log_every_epoch
            self.seen = []

        def on_epoch_end(self, epoch, logs=None):
            self.seen.append(dict(logs))

        def on_batch_end(self, batch, logs=None):
            self.seen.append(batch)

    MlflowCallback.__module__ = "mlflow.tensorflow.callback"
    return MlflowCallback


@pytest.mark.parametrize(("is_chief", "seen"), [(True, [{"loss": 1.0}]), (False, [])])
def test_the_chief_alone_logs_to_mlflow_without_a_call_for_each_batch(of_mlflow, is_chief, seen):
    callback = of_mlflow()
    _, hooks = make([callback], is_chief)
    assert hooks.every("train") is None
    hooks.on_train_begin()
    hooks.on_epoch_end(0, {"loss": 1.0})
    assert callback.seen == seen


def test_mlflow_is_called_for_each_batch_when_it_asks_to_be(of_mlflow):
    _, hooks = make([of_mlflow(log_every_epoch=False)])
    assert hooks.every("train") == 1


def test_lambda_callbacks_are_seen():
    _, hooks = make([keras.callbacks.LambdaCallback(on_train_batch_end=lambda b, logs: None)])
    assert hooks.every("train") == 1


def test_a_task_that_is_not_the_chief_prints_and_writes_nothing(tmp_path, capsys):
    checkpoint = keras.callbacks.ModelCheckpoint(tmp_path / "model.keras")
    csv = keras.callbacks.CSVLogger(tmp_path / "log.csv")
    engine, hooks = make([checkpoint, csv], is_chief=False, verbose=1)
    engine.model.build((None, 1))
    hooks.on_train_begin()
    hooks.on_epoch_begin(0)
    hooks.on_epoch_end(0, {"loss": 1.0, "val_loss": 1.0})
    hooks.on_train_end()
    assert list(tmp_path.iterdir()) == []
    assert capsys.readouterr().out == ""


def test_the_chief_writes(tmp_path):
    checkpoint = keras.callbacks.ModelCheckpoint(tmp_path / "model.keras")
    engine, hooks = make([checkpoint])
    engine.model.build((None, 1))
    hooks.on_train_begin()
    hooks.on_epoch_begin(0)
    hooks.on_epoch_end(0, {"loss": 1.0})
    assert [p.name for p in tmp_path.iterdir()] == ["model.keras"]


@pytest.mark.parametrize("steps_per_execution", [1, 5])
def test_batch_callbacks_are_called_every_steps_per_execution(steps_per_execution):
    engine, hooks = make([keras.callbacks.LambdaCallback(on_train_batch_end=lambda b, logs: None)])
    engine.model.steps_per_execution = steps_per_execution
    assert hooks.every("train") == steps_per_execution
