"""Tells a person what becomes of checkpoints."""

import sys


def say(sentence: str) -> None:
    """Write a sentence to standard error: standard output ends with the run record."""
    sys.stdout.flush()
    sys.stderr.write(f"tfdist: {sentence}\n")
    sys.stderr.flush()
