import pytest

from tfdist.data.ledger import Ledger, ledger
from tfdist.errors import UsageError

TABLE = {
    "even": ((128, 32, 2), Ledger(32, "16", 4, 128, 0)),
    "uneven last batch": ((225, 32, 2), Ledger(32, "16", 8, 225, 0)),
    "uneven split": ((100, 33, 2), Ledger(33, "16 or 17", 4, 100, 0)),
    "one replica": ((1437, 64, 1), Ledger(64, "64", 23, 1437, 0)),
    "batch smaller than replicas": ((10, 3, 4), Ledger(3, "0 or 1", 4, 10, 0)),
    "fewer examples than replicas": ((3, 32, 4), Ledger(32, "0 or 1", 1, 3, 0)),
    "fewer examples than a batch": ((10, 32, 2), Ledger(32, "5", 1, 10, 0)),
    "unknown size": ((None, 32, 2), Ledger(32, "16", None, None, 0)),
    "unknown size, steps given": ((None, 32, 2, 5), Ledger(32, "16", 5, None, None)),
    "steps stop early": ((100, 32, 2, 2), Ledger(32, "16", 2, 100, 36)),
    "steps stop in the last batch": ((100, 32, 2, 3), Ledger(32, "16", 3, 100, 4)),
    "steps are just enough": ((100, 32, 2, 4), Ledger(32, "16", 4, 100, 0)),
    "steps go on": ((100, 32, 2, 9), Ledger(32, "16", 9, 100, 0)),
    "remainder dropped": ((100, 32, 2, None, True), Ledger(32, "16", 3, 100, 4, True)),
    "remainder and steps": ((100, 32, 2, 2, True), Ledger(32, "16", 2, 100, 36, True)),
    "remainder and unknown size": (
        (None, 32, 2, None, True),
        Ledger(32, "16", None, None, None, True),
    ),
}


@pytest.mark.parametrize(("arguments", "expected"), TABLE.values(), ids=TABLE)
def test_account_of_an_epoch(arguments, expected):
    assert ledger(*arguments) == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((100, 0, 2), "--global_batch_size is 0, but must be 1 or more"),
        ((100, 32, 0), "the number of replicas is 0"),
        ((100, 32, 2, 0), "--steps_per_epoch is 0"),
        ((0, 32, 2), "the number of examples in the dataset is 0"),
        (
            (10, 32, 2, None, True),
            "--drop_remainder leaves nothing of 10 examples in batches of 32",
        ),
    ],
)
def test_numbers_below_one_are_refused(arguments, message):
    with pytest.raises(UsageError, match=message):
        ledger(*arguments)


@pytest.mark.parametrize(
    ("steps", "examples", "batch", "drop", "expected"),
    [
        (45, 1437, 32, False, 1437),
        (90, 1437, 32, False, 2874),
        (3, 1437, 32, False, 96),
        (46, 1437, 32, False, 1469),
        (5, 10, 64, False, 50),
        (7, None, 32, False, None),
        (44, 1437, 32, True, 1408),
        (46, 1437, 32, True, 1472),
    ],
)
def test_examples_are_counted_over_passes(steps, examples, batch, drop, expected):
    assert ledger(examples, batch, 2, None, drop).examples_in(steps) == expected
