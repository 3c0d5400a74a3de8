"""TensorFlow waits for other tasks while Python's other threads go on.

Where its own binding keeps Python's lock meanwhile, nobody could notice, or say, that one of them
is lost.
"""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import tensorflow as tf
from tensorflow.python import pywrap_tfe
from tensorflow.python.framework import constant_op, errors_impl

_NAME = "TFE_EnableCollectiveOps"
_LIBRARIES = "libtensorflow_cc.*"


@contextmanager
def unlocked() -> Iterator[None]:
    """Connect without Python's lock in this block, where TensorFlow's library has the function.

    TensorFlow keeps it until the last task has come, at most for an hour. ctypes calls the same
    function without it.
    https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/c/eager/c_api.h
    """
    own = getattr(pywrap_tfe, _NAME)
    library = _library()
    if library is not None:
        setattr(pywrap_tfe, _NAME, lambda context, server: _connect(library, context, server))
    try:
        yield
    finally:
        setattr(pywrap_tfe, _NAME, own)


def keep_constants(device: str) -> None:
    """Make constants on a device of this process, also where another task's is asked for.

    TensorFlow sends a constant there with Python's lock kept, but what an operation needs from
    elsewhere without it.
    """
    own = constant_op.convert_to_eager_tensor

    def convert(value: Any, ctx: Any, dtype: Any = None) -> Any:
        with tf.device(device):
            return own(value, ctx, dtype)

    constant_op.convert_to_eager_tensor = convert


def _library() -> ctypes.CDLL | None:
    folder = Path(tf.sysconfig.get_lib())
    for file in folder.glob(_LIBRARIES):  # loaded already: this only finds it
        with suppress(OSError):
            library = ctypes.CDLL(str(file))
            if hasattr(library, _NAME):
                return library
    return None


def _connect(library: ctypes.CDLL, context: Any, server: bytes) -> None:
    pointer = ctypes.c_void_p
    to_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    to_pointer.restype, to_pointer.argtypes = pointer, [ctypes.py_object, ctypes.c_char_p]
    library.TF_NewStatus.restype = pointer
    library.TF_Message.restype = ctypes.c_char_p
    status = pointer(library.TF_NewStatus())
    try:
        library.TFE_EnableCollectiveOps(
            pointer(to_pointer(context, None)), server, ctypes.c_size_t(len(server)), status
        )
        code = library.TF_GetCode(status)
        if code:
            message = library.TF_Message(status).decode(errors="replace")
            raise errors_impl.exception_type_from_error_code(code)(None, None, message)
    finally:
        library.TF_DeleteStatus(status)
