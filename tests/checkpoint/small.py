"""A small training that can be stopped anywhere and started again, in the same process or not."""

import keras
import numpy as np
import tensorflow as tf

import tfdist

EPOCHS = 3
STEPS = 7  # 50 examples in batches of 8: the last one has 2
STOP = (1, 3)  # epoch and batch, in the middle of an epoch


class StopError(Exception):
    """Training was stopped."""


class Stop(keras.callbacks.Callback):
    """Stops training after a batch, as a crash would."""

    def __init__(self, at):
        super().__init__()
        self.at, self.epoch = at, 0

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        if (self.epoch, batch) == self.at:
            raise StopError


class Count(keras.callbacks.Callback):
    """A callback of the user's own that remembers."""

    def __init__(self):
        super().__init__()
        self.epochs, self.total = 0, np.zeros(2)

    def on_epoch_end(self, epoch, logs=None):
        self.epochs += 1
        self.total = self.total + np.array([logs["loss"], logs["val_loss"]])

    def get_state(self):
        return {"epochs": self.epochs, "total": self.total}

    def set_state(self, state):
        self.epochs, self.total = state["epochs"], state["total"]


def adam():
    return keras.optimizers.Adam(
        0.01, use_ema=True, ema_momentum=0.9, gradient_accumulation_steps=3, global_clipnorm=1.0
    )


def momentum():
    return keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True)


def callbacks():
    # Each of them changes what follows: none may begin anew, or act twice in an epoch.
    return [
        keras.callbacks.ReduceLROnPlateau("val_loss", factor=0.5, patience=1, min_delta=1.0),
        keras.callbacks.EarlyStopping("val_accuracy", patience=9, restore_best_weights=True),
        keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.9),
        Count(),
    ]


def data():
    random = np.random.RandomState(0)
    x = random.randn(50, 8).astype("float32")
    y = (x.sum(1) > 0).astype("int64")
    return tf.data.Dataset.from_tensor_slices((x, y)).shuffle(50, seed=3).batch(8)


def model(optimizer, units=8, dropout=0.3, synchronized=True):
    layers = keras.layers
    net = tfdist.distribute(
        keras.Sequential(
            [
                layers.Input((8,)),
                layers.Dense(units, activation="relu"),
                layers.BatchNormalization(synchronized=synchronized),
                layers.Dropout(dropout),
                layers.Dense(2),
            ]
        )
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    net.compile(optimizer, loss, metrics=["accuracy"])
    return net


def train(strategy, optimizer=adam, folder=None, stop=None, epochs=EPOCHS, dropout=0.3, **saves):
    """Train; return all numbers that the run ends with, None when it was stopped."""
    keras.utils.clear_session()
    keras.utils.set_random_seed(1)
    with strategy.scope():
        net = model(optimizer(), dropout=dropout)
    told = callbacks()
    if folder is not None:
        told.insert(0, tfdist.Checkpoint(folder, **saves))
    if stop is not None:
        told.append(Stop(stop))
    dataset = data()
    try:
        # The same shuffled data for both: its order depends on how often it was read before.
        fit = net.fit(dataset, validation_data=dataset, epochs=epochs, verbose=0, callbacks=told)
    except StopError:
        return None
    counted = next(each for each in told if isinstance(each, Count))
    values = [*net.variables, *net.optimizer.variables]
    logs = [np.asarray(logged) for _, logged in sorted(fit.history.items())]
    return [*map(np.asarray, values), *logs, counted.total, np.asarray(fit.epoch)]


def differences(left, right, tolerance=0.0):
    """The numbers of the values that differ."""
    assert len(left) == len(right)
    return [
        index
        for index, (a, b) in enumerate(zip(left, right, strict=True))
        if a.shape != b.shape or not np.allclose(a, b, rtol=tolerance, atol=tolerance)
    ]
