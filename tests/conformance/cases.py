"""All cases, by name."""

from __future__ import annotations

from tests.conformance import cases_batches, cases_losses, cases_optimizers

ALL_CASES = (*cases_optimizers.CASES, *cases_batches.CASES, *cases_losses.CASES)
BY_NAME = {case.name: case for case in ALL_CASES}
