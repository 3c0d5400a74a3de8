import gc
import types

import tensorflow as tf
from tensorflow.python.distribute.parameter_server_strategy_v2 import (
    ParameterServerStrategyV2Extended,
)

from tfdist.factory.shares import by_size


def _placed(servers=2):
    """Return what makes a variable by a strategy whose servers are noted, and the notes."""
    places = []

    def in_turn(next_creator, **kwargs):
        places.append(extended._variable_count % servers)
        extended._variable_count += 1
        return next_creator(**kwargs)

    extended = types.SimpleNamespace(_variable_count=0, _create_variable_round_robin=in_turn)
    by_size(extended, servers)
    make = extended._create_variable_round_robin
    return lambda n: make(tf.Variable, initial_value=tf.zeros([n])), places


def test_each_variable_goes_to_the_server_with_the_fewest_bytes():
    make, places = _placed()
    kept = [make(n) for n in (100, 10, 10, 10, 90, 5)]
    assert places == [0, 1, 1, 1, 1, 0]
    assert len(kept) == 6


def test_a_variable_that_is_gone_counts_no_more():
    make, places = _placed()
    kept = [make(100), make(10)]
    del kept[0]
    gc.collect()
    make(1)
    assert places == [0, 1, 0]


def test_tensorflow_still_deals_them_out_by_a_count():
    names = ParameterServerStrategyV2Extended._create_variable_round_robin.__code__.co_names
    assert "_variable_count" in names
