import numpy as np
import pytest

from tfdist.data.per_worker import PerWorker, per_worker
from tfdist.errors import UsageError


def own_part(context):
    """Worker 0 has the numbers from 0, worker 1 those from 100, and so on."""
    import tensorflow as tf

    start = 100 * context.worker
    numbers = tf.data.Dataset.range(start, start + 3 + context.worker + context.epoch)
    return numbers.batch(2 * context.workers)


def test_each_worker_reads_what_its_function_gives():
    data = per_worker(own_part)
    found = [list(data.dataset(worker, 2, epoch=1).as_numpy_iterator()) for worker in range(2)]
    assert [[batch.tolist() for batch in each] for each in found] == [
        [[0, 1, 2, 3]],
        [[100, 101, 102, 103], [104]],
    ]


def test_tensorflow_does_not_divide_it_again():
    import tensorflow as tf

    options = per_worker(own_part).dataset(0, 2, 0).options()
    policy = options.experimental_distribute.auto_shard_policy
    assert policy == tf.data.experimental.AutoShardPolicy.OFF


def test_seeds_differ_and_are_the_same_in_a_rerun():
    def seeds(run_seed):
        given = []

        def note(context):
            given.append(context.seed)
            return own_part(context)

        for worker in range(3):
            for epoch in range(3):
                per_worker(note).dataset(worker, 3, epoch, run_seed)
        return given

    assert seeds(0) == seeds(0)
    assert len({*seeds(0), *seeds(1)}) == 18
    assert all(0 <= seed < 2**32 for seed in seeds(7))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (5, "was given int, but a function of one argument is expected: give one that takes"),
        (lambda: None, r"cannot be called with one argument \(too many positional arguments\)"),
        (lambda a, b: None, r"one argument \(missing a required argument: 'b'\): let it take the"),
    ],
)
def test_what_is_no_function_of_a_context(function, message):
    with pytest.raises(UsageError, match=message):
        per_worker(function)


def test_what_is_no_dataset():
    def numbers(context):
        return [1, 2]

    message = r"numbers\(\) of tfdist\.per_worker returned list for worker 1, but a tf\.data"
    with pytest.raises(UsageError, match=message):
        per_worker(numbers).dataset(1, 2, 0)


def test_a_worker_that_is_not_there():
    with pytest.raises(ValueError, match="there is no worker 2 among 2"):
        per_worker(own_part).dataset(2, 2, 0)


def test_workers_give_examples_of_one_kind():
    import tensorflow as tf

    data = PerWorker(own_part)
    spec = (tf.TensorSpec([None, 3]), tf.TensorSpec([None], tf.int64))
    data.check(spec, (tf.TensorSpec([5, 3]), tf.TensorSpec([5], tf.int64)), 1)
    others = [
        (tf.TensorSpec([None, 4]), spec[1]),
        (spec[0], tf.TensorSpec([None], tf.int32)),
        {"x": spec[0], "y": spec[1]},
        spec[0],
    ]
    for other in others:
        with pytest.raises(UsageError, match=r"to worker 0 and of .* to worker 1: give all"):
            data.check(spec, other, 1)


class Items:
    """Batches by their number, which note who asks."""

    def __init__(self):
        self.asked, self.ended = [], 0

    def __len__(self):
        return 5

    def __getitem__(self, number):
        self.asked.append(number)
        return {"x": np.full([2, 3], number, np.float32)}, np.arange(2)

    def on_epoch_end(self):
        self.ended += 1


def test_a_worker_makes_its_own_items_only():
    items = Items()
    declared = per_worker(items)
    dataset = declared.dataset(1, 2, 0)
    assert len(dataset) == 2
    assert [int(batch["x"][0, 0]) for batch, _ in dataset] == [1, 3]
    assert dataset.element_spec[0]["x"].shape.as_list() == [None, 3]
    assert set(items.asked) == {1, 3}
    assert [int(batch["x"][0, 0]) for batch, _ in declared.dataset(1, 2, 2)] == [1, 3]
    assert items.ended == 2
    assert list(per_worker(Items()).dataset(5, 6, 0)) == []
