"""How the state that replicas collected becomes one: which rule each variable follows."""

from dataclasses import dataclass, field

import keras
import tensorflow as tf

from tfdist.training import internals
from tfdist.training.capture import Capture, is_seed
from tfdist.training.share import Share


@dataclass
class State:
    """The variables a step writes, in the order in which its replicas return their values.

    Filled while the step is traced; each replica of a step fills it with the same.
    """

    added: list[keras.Variable] = field(default_factory=list)
    meant: list[keras.Variable] = field(default_factory=list)
    first: list[keras.Variable] = field(default_factory=list)
    equal: list[keras.Variable] = field(default_factory=list)


def collect(capture: Capture, counters: set[int], share: Share, into: State) -> dict[str, list]:
    """Return a replica's values for the sum over replicas, by the rule each variable follows.

    - added: metrics, and variables with aggregation "sum": their increments add up
    - meant: other floating state (moving statistics): the mean weighted by examples
    - first: other state (counters, flags): that of replica 0
    - equal: the state of random generators: the same everywhere, never sent; with one replica all
    """
    rules = State()
    alone = share.replicas == 1
    values: dict[str, list] = {"added": [], "meant": [], "first": [], "equal": []}
    for variable in capture.assigned.values():
        value = capture.result(variable)
        rule = _rule(variable, counters)
        if alone and id(variable) not in counters:
            rule = "equal"
        getattr(rules, rule).append(variable)
        values[rule].append(_addend(rule, variable, value, counters, share))
    into.added, into.meant = rules.added, rules.meant
    into.first, into.equal = rules.first, rules.equal
    return values


def _rule(variable: keras.Variable, counters: set[int]) -> str:
    if id(variable) in counters or variable.aggregation == "sum":
        return "added"
    if is_seed(variable) and variable is not internals.global_seed_state():
        return "equal"
    if variable.aggregation == "only_first_replica" or not tf.as_dtype(variable.dtype).is_floating:
        return "first"
    return "meant"


def _addend(
    rule: str, variable: keras.Variable, value: tf.Tensor, counters: set[int], share: Share
) -> tf.Tensor:
    if rule == "equal":
        return value
    if rule == "added":
        if id(variable) not in counters:
            value = value - tf.convert_to_tensor(internals.raw(variable))
        return _if(share.count > 0, value)
    if rule == "meant":
        return _if(share.count > 0, value * tf.cast(share.weight, value.dtype))
    whole = tf.cast(value, tf.int32) if value.dtype == tf.bool else value
    return whole if share.replica == 0 else tf.zeros_like(whole)


def _if(condition: tf.Tensor, value: tf.Tensor) -> tf.Tensor:
    """Return the value, or zeros: a replica without examples may have made NaN of nothing."""
    return tf.where(condition, value, tf.zeros_like(value))


def write(state: State, values: dict[str, list]) -> None:
    """Assign the summed values in the cross-replica context; increments are counted apart."""
    for rule in ("meant", "first", "equal"):
        for variable, value in zip(getattr(state, rule), values[rule], strict=True):
            raw = internals.raw(variable)
            raw.assign(tf.cast(value, raw.dtype))
