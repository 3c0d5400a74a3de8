"""The UCI handwritten digits, shipped with tfdist."""
