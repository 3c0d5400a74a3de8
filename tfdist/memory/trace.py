"""What does a step of training hold? Its traced graph, as operations whose lives are followed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import tensorflow as tf

from tfdist.memory.liveness import ALIAS, HELD, NEW, REUSE, Operation, Peak, peak
from tfdist.training import internals

_HELD = {"Const", "Placeholder", "ReadVariableOp", "VarHandleOp"}
_ALIASES = {
    *("Identity", "IdentityN", "Reshape", "Squeeze", "ExpandDims", "StopGradient"),
    *("PreventGradient", "Snapshot", "EnsureShape", "CheckNumerics"),
}
# Those whose kernels write into an input when nobody else reads it (forward_input_or_allocate).
_IN_PLACE = {
    *("Add", "AddV2", "AddN", "Sub", "Mul", "MulNoNan", "Div", "RealDiv", "DivNoNan", "Neg"),
    *("Maximum", "Minimum", "Square", "SquaredDifference", "Pow", "Exp", "Log", "Log1p", "Abs"),
    *("Sqrt", "SqrtGrad", "Rsqrt", "RsqrtGrad", "Reciprocal", "Sign", "Floor", "Erf", "Sin"),
    *("Cos", "Relu", "ReluGrad", "Relu6", "Relu6Grad", "LeakyRelu", "LeakyReluGrad", "Elu"),
    *("EluGrad", "Selu", "SeluGrad", "Softplus", "SoftplusGrad", "Sigmoid", "SigmoidGrad"),
    *("Tanh", "TanhGrad", "Softmax", "LogSoftmax", "BiasAdd", "Select", "SelectV2", "Xdivy"),
}
_LISTS = {"TensorListPushBack": 1, "TensorListSetItem": 2}  # which input is the item
_BODIES = {
    "PartitionedCall": ("f",),
    "StatefulPartitionedCall": ("f",),
    "If": ("then_branch", "else_branch"),
    "StatelessIf": ("then_branch", "else_branch"),
    "While": ("body",),
    "StatelessWhile": ("body",),
}


def of_graph(graph: Any, unknown: list[str], away: bool = False) -> Peak:
    """Return the peak of what a traced function holds, apart from its arguments and variables.

    Args:
        graph: Of a concrete function whose arguments have whole shapes.
        unknown: Where to note the operations whose results count nothing, for want of a shape.
        away: Whether variables are another task's: then what is read of them counts.
    """
    needed = list(_needed(graph))
    number = {t.ref(): i for i, t in enumerate(t for op in needed for t in op.outputs)}
    operations = [_operation(op, number, unknown) for op in needed]
    if away:
        reads = {op.name for op in needed if op.type == "ReadVariableOp"}
        operations = [replace(o, way=NEW) if o.name in reads else o for o in operations]
    return peak(operations, {number[t.ref()] for t in graph.outputs if t.ref() in number})


def _needed(graph: Any) -> Iterator[Any]:
    """Yield what TensorFlow would run: what results and effects need."""
    every = graph.get_operations()
    ahead = [t.op for t in graph.outputs] + [op for op in every if op.op_def.is_stateful]
    needed = set()
    while ahead:
        op = ahead.pop()
        if op not in needed:
            needed.add(op)
            ahead += [t.op for t in op.inputs] + list(op.control_inputs)
    yield from (op for op in every if op in needed)


def _operation(op: Any, number: dict[Any, int], unknown: list[str]) -> Operation:
    inner = [internals.inner_graph(op, name) for name in _BODIES.get(op.type, ())]
    of_lists = _of_lists(op, inner[0]) if op.type.endswith("While") else {}
    sizes = [of_lists.get(i, _size(t)) for i, t in enumerate(op.outputs)]
    if None in sizes and op.type not in _HELD:
        unknown.append(op.name)
    reads = list(op.inputs)
    way = _way(op)
    if _is_times_one(op):
        way, reads = ALIAS, sorted(reads, key=lambda t: -(t.shape.rank or 0))
    return Operation(
        op.name,
        tuple(number[t.ref()] for t in reads),
        tuple((number[t.ref()], size or 0) for t, size in zip(op.outputs, sizes, strict=True)),
        tuple(before.name for before in op.control_inputs),
        way,
        max((of_graph(each, unknown).total_bytes for each in inner), default=0),
    )


def _way(op: Any) -> str:
    for kinds, way in ((_HELD, HELD), (_ALIASES, ALIAS), (_IN_PLACE, REUSE)):
        if op.type in kinds:
            return way
    return NEW


def _is_times_one(op: Any) -> bool:
    """Whether TensorFlow leaves an operation out before it runs the graph."""
    return op.type == "Mul" and any(
        t.op.type == "Const" and t.shape.rank == 0 and tf.get_static_value(t) == 1
        for t in op.inputs
    )


def _size(tensor: Any) -> int | None:
    if tensor.dtype in (tf.resource, tf.variant, tf.string):
        return 0
    elements = tensor.shape.num_elements()
    return None if elements is None else elements * tensor.dtype.size


def _of_lists(loop: Any, body: Any) -> dict[int, int]:
    """The bytes of the lists that a loop fills, an item in each turn, by the number of its result.

    TensorFlow's loops keep so what the gradient needs of each turn; their second argument is the
    largest number of turns.
    """
    turns, found = _turns(loop.inputs[1]), {}
    for i, result in enumerate(body.outputs):
        op = _maker(result)
        if op.type in _LISTS and turns > 0:
            item = op.inputs[_LISTS[op.type]]
            # What a variable holds is not copied into the list.
            size = 0 if _maker(item).type in ("ReadVariableOp", "Const") else _size(item)
            found[i] = (size or 0) * turns
    return found


def _maker(tensor: Any) -> Any:
    op = tensor.op
    while op.type in _ALIASES:
        op = op.inputs[0].op
    return op


def _turns(most: Any) -> int:
    """The largest number of turns, which Keras gives as the largest of its lengths; or 0."""
    known = tf.get_static_value(most)
    if known is None and most.op.type == "Max":
        known = tf.get_static_value(most.op.inputs[0])
    return 0 if known is None else int(np.max(known))
