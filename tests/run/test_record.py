"""The run record: its counts and its weights."""

import hashlib
import json
import math

import numpy as np

from tfdist.run.record import as_line, digest, norm, plain

WEIGHTS = [np.array([[3.0, 0.0]], np.float32), np.array([4.0], np.float32)]


def test_digest_is_that_of_the_bytes_in_order():
    expected = hashlib.sha256(b"".join(weight.tobytes() for weight in WEIGHTS)).hexdigest()
    assert digest(WEIGHTS) == expected
    assert digest(WEIGHTS[::-1]) != expected


def test_norm_is_that_of_all_weights_together():
    assert norm(WEIGHTS) == 5.0
    assert norm([np.array([np.nan])]) is None
    assert norm([np.array([300.0] * 4, np.float16)]) == 600.0  # beyond what float16 can square


def test_a_line_is_json_without_nan():
    assert plain(math.nan) is None
    assert plain(math.inf) is None
    assert plain(np.array([1.0, np.nan])) == [1.0, None]
    line = as_line({"loss": plain(math.nan), "steps": 3})
    assert json.loads(line) == {"loss": None, "steps": 3}
    assert "\n" not in line
