"""What a model is trained on: datasets by name, and who reads which rows of a batch."""

from tfdist.data.loading import load
from tfdist.data.reading import Reading
from tfdist.data.source import Source

__all__ = ["Reading", "Source", "load"]
