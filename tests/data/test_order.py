"""The order of the examples: of those with numbers and of those in a stream alike."""

from itertools import pairwise

import pytest

from tests.data.numbered import by_number, flat, kept, read, stream
from tfdist.data.augment import Augment
from tfdist.data.batches import batches, validation_batches
from tfdist.data.order import Order
from tfdist.data.split import rows
from tfdist.errors import UsageError

SIZES = [0, 1, 7, 31]
BATCHES = [1, 5, 100]
both = pytest.mark.parametrize("source", [by_number, kept, stream])


@pytest.fixture(autouse=True)
def few_in_one_call(monkeypatch):
    """Batches that are read in one call end in the middle of a pass."""
    monkeypatch.setattr("tfdist.data.pixels._MAX_BLOCK", 20)


def passes(source, count, **order):
    """The batches of several passes, each read by an iteration of its own."""
    dataset = batches(source, Order(**order))
    return [read(dataset) for _ in range(count)]


@both
@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_every_example_once_in_a_pass_on_any_number_of_workers(source, size, shuffle):
    for batch in BATCHES:
        for drop in (False, True):
            order = {"global_batch_size": batch, "shuffle": shuffle, "drop_remainder": drop}
            found = passes(source(size), 1 + shuffle, **order)
            kept = size // batch * batch if drop else size
            for one in found:
                assert [len(each) for each in one[:-1]] == [batch] * (len(one) - 1)
                assert len(flat(one)) == len(set(flat(one))) == kept
                assert set(flat(one)) <= set(range(size))
            for workers in range(1, 6):
                shares = [share(found[0], worker, workers) for worker in range(workers)]
                assert sorted(flat(shares)) == sorted(flat(found[0]))


def share(found, worker, workers):
    """The numbers that a worker computes on."""
    parts = [(batch, rows(len(batch), worker, workers)) for batch in found]
    return [number for batch, (start, stop) in parts for number in batch[start:stop]]


@both
def test_every_task_reads_the_same_batches(source):
    order = {"global_batch_size": 8, "seed": 3}
    tasks = [passes(source(97), 3, **order) for _ in range(3)]
    assert tasks[0] == tasks[1] == tasks[2]


@both
def test_the_order_follows_from_seed_and_pass_alone(source):
    import tensorflow as tf

    found = {}
    for seed in (1, 2):
        tf.random.set_seed(10 + seed)
        found[seed] = passes(source(97), 2, global_batch_size=10, seed=seed)
    tf.random.set_seed(5)
    assert passes(source(97), 2, global_batch_size=10, seed=1) == found[1]
    orders = [flat(one) for each in found.values() for one in each]
    assert all(sorted(one) == list(range(97)) != one for one in orders)
    assert all(one != other for one, other in pairwise(orders))
    smaller = passes(by_number(97), 1, global_batch_size=7, seed=1)
    assert flat(smaller[0]) == flat(passes(by_number(97), 1, global_batch_size=10, seed=1)[0])


@both
@pytest.mark.parametrize("drop", [False, True])
def test_an_order_that_goes_on_is_that_of_the_passes(source, drop):
    order = {"global_batch_size": 5, "drop_remainder": drop}
    expected = [batch for one in passes(source(13), 3, **order) for batch in one]
    on = batches(source(13), Order(**order, goes_on=True))
    assert read(on.take(len(expected))) == expected
    assert int(on.cardinality()) == -1


@both
@pytest.mark.parametrize("place", [(0, 1), (1, 0), (1, 2), (2, 4)])
def test_a_resumed_run_goes_on_with_the_batches_that_would_have_come(source, place):
    epoch, step = place
    whole = passes(source(47), 4, global_batch_size=10)
    expected = [whole[epoch][step:], *whole[epoch + 1 :]]
    start = {"global_batch_size": 10, "start_epoch": epoch, "start_step": step}
    assert passes(source(47), len(expected), **start) == expected
    on = batches(source(47), Order(**start, goes_on=True))
    assert read(on.take(len(flat(expected)) // 10)) == flat(expected)[: len(flat(expected)) // 10]


@both
def test_a_step_beyond_a_pass_counts_into_the_next_ones(source):
    whole = passes(source(47), 3, global_batch_size=10)
    on = batches(source(47), Order(global_batch_size=10, start_step=7, goes_on=True))
    assert read(on.take(3)) == whole[1][2:5]
    if source is not stream:
        assert passes(source(47), 2, global_batch_size=10, start_step=7) == [whole[1][2:], whole[2]]


@both
def test_the_length_is_known(source):
    assert int(batches(source(13), Order(global_batch_size=5)).cardinality()) == 3
    assert len(batches(source(13), Order(global_batch_size=5, drop_remainder=True))) == 2


def test_a_stream_of_unknown_length():
    found = passes(stream(13, known=False), 2, global_batch_size=5)
    assert [sorted(flat(one)) for one in found] == [list(range(13))] * 2
    assert found[0] != found[1]


def test_examples_with_numbers_are_shuffled_as_a_whole():
    (found,) = passes(by_number(100_000), 1, global_batch_size=50_000)
    assert abs(sum(found[0]) / 50_000 - 50_000) < 500
    assert min(found[0]) < 100
    assert max(found[0]) > 99_900


def test_a_stream_is_shuffled_through_a_buffer_that_fits_in_memory(monkeypatch):
    monkeypatch.setattr("tfdist.data.streamed._BUFFER_BYTES", 12 * 20)  # Examples of 12 bytes.
    (found,) = passes(stream(1000), 1, global_batch_size=10)
    assert max(found[0]) < 30
    assert found[0] != sorted(found[0])


@both
def test_batches_have_a_fixed_size_where_all_are_full(source):
    def first_axis(**order):
        return batches(source(20), Order(**order)).element_spec[0].shape[0]

    assert first_axis(global_batch_size=5, drop_remainder=True) == 5
    assert first_axis(global_batch_size=6) is None


def test_examples_that_may_be_left_out_leave_their_batch_smaller():
    import tensorflow as tf

    def some(numbers):
        kept = tf.boolean_mask(numbers, numbers % 7 < 4)
        return tf.cast(kept, tf.float32), kept

    source = by_number(20)
    lossy = by_number(20, may_lose=8)
    object.__setattr__(lossy.train_reader, "read", some)
    for order in ({"shuffle": False}, {"seed": 1}):
        whole = passes(source, 1, global_batch_size=3, **order)[0]
        expected = [[number for number in batch if number % 7 < 4] for batch in whole]
        assert passes(lossy, 1, global_batch_size=3, **order)[0] == [e for e in expected if e]
    assert [] in expected


class ShowPlace(Augment):
    """Puts the place of the batch where y was."""

    def __call__(self, batch, place):
        return batch[0], place[0] * 100 + place[1]


@pytest.mark.parametrize("goes_on", [False, True])
def test_a_batch_is_changed_with_its_place(goes_on):
    for source in (by_number(7), stream(7)):
        order = Order(global_batch_size=3, goes_on=goes_on, start_epoch=2, start_step=1)
        dataset = batches(source, order, ShowPlace())
        assert [int(y) for _, y in dataset.take(2)] == [201, 202]


def test_validation_keeps_its_order():
    source = by_number(3, validation=10)
    assert read(validation_batches(source, 4)) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert validation_batches(by_number(3), 4) is None


@pytest.mark.parametrize(
    ("field", "value", "least"),
    [("global_batch_size", 0, 1), ("seed", -1, 0), ("start_epoch", -1, 0), ("start_step", -1, 0)],
)
def test_numbers_out_of_range(field, value, least):
    with pytest.raises(UsageError, match=f"{field} is {value}, but must be {least} or more"):
        Order(**{"global_batch_size": 1, field: value})
