from tests.conformance.strategies import split_cpu

split_cpu()
