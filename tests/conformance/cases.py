"""All cases, by name."""

from __future__ import annotations

from tests.conformance import (
    cases_asynchronous,
    cases_batches,
    cases_callbacks,
    cases_custom,
    cases_inputs,
    cases_layers,
    cases_loops,
    cases_losses,
    cases_metrics,
    cases_models,
    cases_optimizers,
    cases_outputs,
    cases_precision,
    cases_random,
    cases_sources,
    cases_sums,
)

ALL_CASES = (
    *cases_optimizers.CASES,
    *cases_precision.CASES,
    *cases_batches.CASES,
    *cases_losses.CASES,
    *cases_outputs.CASES,
    *cases_metrics.CASES,
    *cases_layers.CASES,
    *cases_random.CASES,
    *cases_inputs.CASES,
    *cases_sources.CASES,
    *cases_loops.CASES,
    *cases_callbacks.CASES,
    *cases_custom.CASES,
    *cases_sums.CASES,
    *cases_models.CASES,
    *cases_asynchronous.CASES,
)
BY_NAME = {case.name: case for case in ALL_CASES}
