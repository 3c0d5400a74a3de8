"""Which strategy, on which devices: chosen, explained and built. Imports TensorFlow when called."""

from tfdist.factory.build import strategy
from tfdist.factory.choice import NAMES, Choice, choose, explain
from tfdist.factory.context import Context, current
from tfdist.factory.devices import Devices
from tfdist.factory.joining import finish
from tfdist.factory.planning import Plan, plan

__all__ = [
    "NAMES",
    "Choice",
    "Context",
    "Devices",
    "Plan",
    "choose",
    "current",
    "explain",
    "finish",
    "plan",
    "strategy",
]
