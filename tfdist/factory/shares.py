"""Which parameter server keeps which variable: the one that holds the fewest bytes so far.

TensorFlow deals variables out in turn, whatever their size, so that one server may keep most of
the model and carry most of the traffic.
"""

from __future__ import annotations

import weakref
from typing import Any


def by_size(extended: Any, servers: int) -> None:
    """Let a ParameterServerStrategy place each new variable where the fewest bytes are.

    Args:
        extended: Of the strategy.
        servers: The number of ps tasks.
    """
    held = [0] * servers
    own = extended._create_variable_round_robin

    def create(next_creator: Any, **kwargs: Any) -> Any:
        place = held.index(min(held))
        extended._variable_count = place  # the server whose turn it is
        variable = own(next_creator, **kwargs)
        size_bytes = (variable.shape.num_elements() or 0) * variable.dtype.size
        _add(held, place, size_bytes)
        weakref.finalize(variable, _add, held, place, -size_bytes)
        return variable

    extended._create_variable_round_robin = create


def _add(held: list[int], place: int, size_bytes: int) -> None:
    held[place] += size_bytes
