"""Which TensorFlow Datasets builder has this name?"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tfdist import names
from tfdist.errors import UsageError


def find(name: str, data_dir: str | None) -> Any:
    """Return the `tfds.core.DatasetBuilder` named `name`, without asking the network.

    Raises:
        UsageError: no builder has this name, or it lacks the configuration, the version or a
            package that it needs.
    """
    import tensorflow_datasets as tfds

    import tfdist.data.digits.builder  # noqa: F401  registers "digits"

    base = re.split("[/:]", name)[0]
    # The community's datasets are listed in a bucket, and asking it without a network takes long.
    known = tfds.list_builders(with_community_datasets=False)
    if base not in known and not (base and _is_on_disk(base, data_dir)):
        raise UsageError(
            f"no dataset is named {base!r}: give 'digits', a name of TensorFlow Datasets, "
            f"or module:function{names.suggestion(base, known)}"
        )
    try:
        return tfds.builder(name, data_dir=data_dir)
    except Exception as error:  # Builders are other people's code: each fails in its own way.
        raise UsageError(
            f"TensorFlow Datasets cannot open {name!r} ({_reason(error)}): correct the name, or "
            f"install what is missing{_similar_configurations(name, base)}"
        ) from error


def _is_on_disk(base: str, data_dir: str | None) -> bool:
    import tensorflow_datasets as tfds

    # A prepared dataset can be read without the code that made it.
    return (Path(data_dir or tfds.core.constants.DATA_DIR).expanduser() / base).is_dir()


def _reason(error: Exception) -> str:
    first_line = str(error).strip().partition("\n")[0] or type(error).__name__
    return re.sub(r"^Failed to construct dataset .*?}\": ", "", first_line).split(". ")[0]


def _similar_configurations(name: str, base: str) -> str:
    import tensorflow_datasets as tfds

    try:
        configurations = tfds.builder_cls(base).builder_configs
    except Exception:  # Code that cannot be imported has been reported by the caller.
        return ""
    wanted = name.removeprefix(base).lstrip("/")
    return names.suggestion(wanted, configurations)
