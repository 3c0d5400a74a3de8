from tfdist.transport.mpi.buckets import Message, fill


def _places(buckets):
    return [[message.places for message in bucket] for bucket in buckets]


def test_values_keep_their_order_and_full_buckets_leave():
    values = [(4, "float32", 60), (3, "float32", 60), (2, "float32", 60), (1, "float32", 10)]
    assert _places(fill(values, bucket_bytes=100, alone_bytes=1000)) == [[(4, 3)], [(2, 1)]]


def test_each_type_is_a_message_of_its_bucket():
    values = [(0, "float32", 8), (1, "int64", 8), (2, "float32", 8)]
    assert _places(fill(values, bucket_bytes=100)) == [[(0, 2), (1,)]]


def test_large_values_travel_alone():
    values = [(0, "float32", 8), (1, "float32", 50), (2, "float32", 8)]
    assert _places(fill(values, bucket_bytes=100, alone_bytes=50)) == [[(1,), (0, 2)]]


def test_a_value_of_unknown_size_travels_alone():
    values = [(0, "float32", 8), (1, "float32", None)]
    assert fill(values) == [(Message((1,)), Message((0,)))]


def test_no_values():
    assert fill([]) == []
