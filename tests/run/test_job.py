"""What a run refuses once it knows data and model."""

import pytest

from tfdist.data import Source
from tfdist.errors import UsageError
from tfdist.run import job
from tfdist.run.settings import Settings


def test_a_loss_that_does_not_follow_is_asked_for():
    settings = Settings(dataset="mine:data", model="mine:net", global_batch_size=1)
    said = "'mine:data' gives no num_classes, .* 'mine:net' returned a model that is not compiled"
    with pytest.raises(UsageError, match=said):
        job._refuse_unknown_loss(settings, Source("mine:data", None))
    job._refuse_unknown_loss(settings, Source("mine:data", None, num_classes=2))
