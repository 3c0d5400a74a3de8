"""Which model does a name stand for?"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tfdist import names
from tfdist.errors import UsageError

if TYPE_CHECKING:
    import keras

NAMES = (
    "mlp",
    "cnn",
    "resnet",
)  # One module each, with a function build(input_shape, num_classes).
_APPLICATIONS = "keras.applications."


def build(
    name: str, input_shape: Any, num_classes: int | None, seed: int | None = None
) -> keras.Model:
    """Build the model `name`, uncompiled, with all its variables; ours give logits.

    Args:
        name: "mlp", "cnn", "resnet"; a name of keras.applications, such as "MobileNetV2", with or
            without "keras.applications."; or "module:function", a function of your own.
        input_shape: shape of one example, without the batch.
        num_classes: number of classes, None when it is not known (a function of your own may not
            need it).
        seed: makes the initial weights the same each time, whatever ran before; None draws them
            from the global state of `keras.utils.set_random_seed`.

    Raises:
        UsageError: the name is unknown, or the model does not fit the data.
    """
    from tfdist.models.seeding import seeded

    with seeded(seed):
        if names.is_function(name):
            from tfdist.models import own

            return own.build(name, input_shape, num_classes, seed)
        _refuse_unknown_classes(name, num_classes)
        if name in NAMES:
            return import_module(f"tfdist.models.{name}").build(input_shape, num_classes)
        return _application(name, input_shape, num_classes)


def _refuse_unknown_classes(name: str, num_classes: int | None) -> None:
    if num_classes is None or num_classes < 2:
        raise UsageError(
            f"model {name!r} needs two classes or more, but the dataset gives num_classes="
            f"{num_classes}: let your dataset's function return a dict with 'num_classes', or give "
            "a model of your own with --model=module:function"
        )


def _application(name: str, input_shape: Any, num_classes: Any) -> keras.Model:
    from tfdist.models import applications

    known = applications.functions()
    function = known.get(name.removeprefix(_APPLICATIONS))
    if function is None:
        close = names.suggestion(name.removeprefix(_APPLICATIONS), [*NAMES, *known])
        raise UsageError(
            f"no model is named {name!r}: give {', '.join(NAMES)}, a name of keras.applications, "
            f"or module:function{close}"
        )
    return applications.build(function, input_shape, num_classes)
