"""How a model is trained: the replica step, the loop around it, and Keras' doors to both."""

from tfdist.training.distribute import distribute

__all__ = ["distribute"]
