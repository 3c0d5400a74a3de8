"""The flags of TensorFlow and Keras that must be the same in every task."""

from __future__ import annotations

from tfdist.cluster.variables import variable

# Those that change what is computed; folders, memory, threads and the screen are each task's own.
_VARIABLES = (
    *("TF_ENABLE_ONEDNN_OPTS", "TF_XLA_FLAGS", "XLA_FLAGS", "TF_FUNCTION_JIT_COMPILE_DEFAULT"),
    *("TF_DETERMINISTIC_OPS", "TF_CUDNN_DETERMINISTIC", "TF_CUDNN_USE_AUTOTUNE"),
    *("NVIDIA_TF32_OVERRIDE", "TF_FP16_CONV_USE_FP32_COMPUTE", "TF_ENABLE_WINOGRAD_NONFUSED"),
)


def tensorflow_flags() -> dict[str, object]:
    """The variables and settings that change what is computed, by name; None where not set."""
    import keras
    import tensorflow as tf

    return {
        **{name: variable(name) for name in _VARIABLES},
        "floatx": keras.config.floatx(),
        "image_data_format": keras.config.image_data_format(),
        "dtype_policy": keras.config.dtype_policy().name,
        "tensor_float_32": tf.config.experimental.tensor_float_32_execution_enabled(),
        "run_functions_eagerly": tf.config.functions_run_eagerly(),
        "jit": str(tf.config.optimizer.get_jit()),
    }
