"""The strategies of this process, the groups of processes, and the table of what was found."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable, Iterator

import pytest
import tensorflow as tf

from tests.conformance import run, table
from tests.conformance.cases import ALL_CASES
from tests.conformance.groups import Group
from tests.conformance.record import Record
from tests.conformance.strategies import STRATEGIES, split_cpu

split_cpu()


def is_there(strategy: str) -> bool:
    """Whether tfdist has an engine for a strategy."""
    engine = "tfdist.training.coordinator"
    return (
        not strategy.startswith("parameter_server") or importlib.util.find_spec(engine) is not None
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test with `case` and `strategy` is one for each case and each strategy it is for."""
    if {"case", "strategy"} <= set(metafunc.fixturenames):
        pairs = [(c, s) for c in ALL_CASES for s in STRATEGIES if s in c.strategies and is_there(s)]
        # The groups play meanwhile.
        pairs.sort(key=lambda pair: not STRATEGIES[pair[1]].is_local)
        ids = [f"{case.name}-{strategy}" for case, strategy in pairs]
        metafunc.parametrize(("case", "strategy"), pairs, ids=ids)


@pytest.fixture(scope="session")
def made() -> Callable[[str], tf.distribute.Strategy]:
    """Makes each strategy of this process once."""
    return functools.cache(lambda name: STRATEGIES[name].make())


@pytest.fixture(scope="session")
def reference() -> Callable[[str, int], Record]:
    """What plain Keras gives on one device, computed once for each case."""
    by_name = {case.name: case for case in ALL_CASES}

    @functools.cache
    def play(name: str, replicas: int) -> Record:
        return run.play_reference(by_name[name], replicas)

    return lambda name, replicas: play(name, replicas if by_name[name].reference else 1)


@pytest.fixture(scope="session", autouse=True)
def groups(request: pytest.FixtureRequest) -> Iterator[dict[str, Group]]:
    """A group of processes for each strategy that has one, playing the cases asked for."""
    names: dict[str, list[str]] = {}
    for item in request.session.items:
        asked = getattr(item, "callspec", None)
        if asked is None or "case" not in asked.params:
            continue
        if not STRATEGIES[asked.params["strategy"]].is_local:
            names.setdefault(asked.params["strategy"], []).append(asked.params["case"].name)
    started = {strategy: Group(strategy, cases) for strategy, cases in names.items()}
    yield started
    for group in started.values():
        group.close()


@pytest.fixture(scope="session")
def found() -> Iterator[table.Rows]:
    """What each case showed under each strategy; written to the table when it is complete."""
    rows: table.Rows = {}
    yield rows
    table.write_if_complete(rows)
