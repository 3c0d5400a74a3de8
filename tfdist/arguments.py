"""The words of a small command through argparse, its mistakes as one sentence."""

import argparse
from typing import NoReturn

from tfdist.errors import UsageError


class Parser(argparse.ArgumentParser):
    """Parses words, and raises what is wrong with them instead of printing its usage.

    Raises:
        UsageError: a word is missing or unknown.
    """

    def error(self, message: str) -> NoReturn:
        """Raise argparse's own message."""
        raise UsageError(f"{message}; {self.prog} --help shows what there is")
