"""Steps of the user's own: equal, or the fault is named, and the helper mends it."""

import keras
import pytest
import tensorflow as tf

import tfdist
from tests.conformance.strategies import STRATEGIES
from tests.verification import steps

HALF = "is 0.50 x that of one device, 1 / the number of replicas"


@pytest.fixture(scope="module")
def mirrored():
    return STRATEGIES["mirrored"].make()


def verify(kind, strategy):
    return tfdist.verify(steps.compiled(kind), steps.data(), strategy=strategy, steps=6)


@pytest.mark.parametrize("kind", [steps.OwnMean, steps.HelpedSum, steps.HelpedMeanOfSome])
def test_a_mean_and_a_helped_sum_are_exact(mirrored, kind):
    report = verify(kind, mirrored)
    assert (report.verdict, report.exit_code, report.causes) == ("equal", 0, ())
    assert report.batches == (16, 16, 16, 16, 16, 15)
    assert report.comparisons[0].largest < 1e-6


@pytest.mark.parametrize(
    ("kind", "factor", "what", "remedy"),
    [
        (steps.OwnSum, 0.5, f"the gradient {HALF}: OwnSum.train_step takes a sum", "global_sum"),
        (
            steps.AddsUp,
            2.0,
            "the gradient is 2.00 x that of one device, the number of replicas: AddsUp.train_step",
            "leave that to tfdist",
        ),
        (
            steps.FixedCount,
            None,
            "only where the replicas have unequal shares of a batch: FixedCount.train_step divides",
            "divide by the number of rows received",
        ),
        (steps.MeanOfSome, None, "no multiple of that of one device: MeanOfSome", "per=count"),
    ],
)
def test_a_fault_is_named_with_its_factor_and_remedy(mirrored, kind, factor, what, remedy):
    report = verify(kind, mirrored)
    assert (report.verdict, report.exit_code) == ("different", 1)
    (cause,) = report.causes
    assert not cause.by_design
    assert what in cause.what
    assert remedy in cause.remedy
    assert cause.factor == (None if factor is None else pytest.approx(factor, rel=1e-3))


def test_a_log_that_is_a_sum_is_named(mirrored):
    report = verify(steps.LogsSum, mirrored)
    (cause,) = report.causes
    assert report.exit_code == 1
    assert cause.what.startswith("the log 'total' is 0.5")
    assert {row.kind for row in report.comparisons[0].rows if not row.is_equal} == {"log"}


def test_of_two_optimizers_the_wrong_one_is_named():
    report = verify(steps.TwoOptimizers, STRATEGIES["central_storage"].make())
    (cause,) = report.causes
    assert report.exit_code == 1
    assert "sequential_1/dense_2/kernel" in cause.what
    assert HALF in cause.what


@pytest.mark.parametrize(
    ("source", "named"),
    [("generator", "dropout, noise"), ("unseeded", "dropout, keras.random without a seed")],
)
def test_random_layers_differ_by_design_and_all_else_is_equal(mirrored, source, named):
    report = tfdist.verify(steps.noisy(source), steps.data(), strategy=mirrored, steps=6)
    as_it_is, without = report.comparisons
    assert (report.verdict, report.exit_code) == ("equal but by design", 0)
    assert as_it_is.largest > 1e-3
    assert without.title == "without random numbers"
    assert without.largest < 1e-6
    assert [cause.what.partition(":")[0] for cause in report.causes] == [named]


def test_random_numbers_of_tensorflow_are_told_apart(mirrored):
    report = tfdist.verify(steps.noisy("TensorFlow's"), steps.data(), strategy=mirrored, steps=6)
    assert report.exit_code == 1
    assert [cause.by_design for cause in report.causes] == [True, False]
    assert "random numbers that are not of keras.random" in report.causes[1].what


def test_a_broken_engine_is_found_out(mirrored, monkeypatch):
    equal_shares = property(lambda share: tf.constant(1 / share.replicas))
    monkeypatch.setattr("tfdist.training.share.Share.weight", equal_shares)

    def build():
        model = keras.Sequential([keras.layers.Input((steps.FEATURES,)), keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        return model

    report = tfdist.verify(build, steps.data(), strategy=mirrored, steps=6)
    assert report.exit_code == 1
    assert "unequal shares" in report.causes[0].what
