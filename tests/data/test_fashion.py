import pytest

from tfdist.data import load


@pytest.mark.timeout(240)
def test_stock_builder_gives_all_images(fashion_dir):
    source = load("fashion_mnist", str(fashion_dir))
    assert (source.train_examples, source.validation_examples) == (60_000, 10_000)
    assert int(source.train.cardinality()) == 60_000
    assert (source.input_shape, source.num_classes) == ((28, 28, 1), 10)
    for x, y in source.train.batch(1000).take(1):
        assert (x.dtype, y.dtype) == ("float32", "int64")
        assert (float(x.numpy().min()), float(x.numpy().max())) == (0.0, 1.0)
        assert sorted(set(y.numpy().tolist())) == list(range(10))
