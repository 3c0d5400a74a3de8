"""A learning rate that rises to its value in the first steps."""

from typing import Any

import keras


@keras.saving.register_keras_serializable("tfdist")
class WarmUp(keras.optimizers.schedules.LearningRateSchedule):
    """The learning rate of step s, from 0, is `learning_rate * min(1, (s + 1) / steps)`.

    Gradual warm-up as of Goyal et al., https://arxiv.org/abs/1706.02677.

    Args:
        learning_rate: What it rises to.
        steps: In how many steps, at least 1.
    """

    def __init__(self, learning_rate: float, steps: int) -> None:
        super().__init__()
        self.learning_rate = learning_rate
        self.steps = steps

    def __call__(self, step: Any) -> Any:
        """Return the learning rate of a step."""
        part = (keras.ops.cast(step, "float32") + 1) / self.steps
        return self.learning_rate * keras.ops.minimum(1.0, part)

    def get_config(self) -> dict[str, Any]:
        """Return what makes it again."""
        return {"learning_rate": self.learning_rate, "steps": self.steps}
