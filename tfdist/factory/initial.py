"""The first values of variables, sent from the chief to every task, whatever their type.

TensorFlow's broadcast knows six types only. Others travel as one of these that holds every value
of theirs, bit for bit.
"""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

_CARRIERS = {
    tf.bfloat16: tf.float32,
    tf.int8: tf.int32,
    tf.int16: tf.int32,
    tf.uint8: tf.int32,
    tf.uint16: tf.int32,
    tf.uint32: tf.int64,
}


def send_every_type(strategy: tf.distribute.Strategy) -> None:
    """Let a strategy over several tasks make variables of the types that TensorFlow cannot send."""
    own = strategy.extended._get_variable_creator_initial_value

    def initial_value(replica_id: int, device: Any, primary_var: Any, **kwargs: Any) -> Callable:
        if replica_id:  # copied from this task's first replica
            return own(replica_id, device, primary_var, **kwargs)

        def send() -> tf.Tensor:
            with tf.device(device):
                value = _tensor(kwargs["initial_value"], kwargs.get("dtype"))
                carrier = _CARRIERS.get(value.dtype, value.dtype)
                sent = kwargs | {"initial_value": tf.cast(value, carrier), "dtype": carrier}
            return tf.cast(own(replica_id, device, primary_var, **sent)(), value.dtype)

        return send

    strategy.extended._get_variable_creator_initial_value = initial_value


def _tensor(given: Any, dtype: Any) -> tf.Tensor:
    value = given() if callable(given) else given
    return tf.convert_to_tensor(getattr(value, "wrapped_value", value), dtype)
