"""What is trained: models by name."""

from tfdist.models.registry import NAMES, build

__all__ = ["NAMES", "build"]
