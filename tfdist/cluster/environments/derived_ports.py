"""Ports that every task of a job can work out for itself, from the job's identity."""

import zlib

# Below the ports that Linux lends to outgoing connections (32768 to 60999).
_FIRST_PORT = 10_000
_PORTS = 352 * 64
_PORTS_OF_A_JOB = 64


def derived_port(job_number: int, rank: int) -> int:
    """The port of `rank`: distinct within a job, and apart for jobs with nearby numbers."""
    return _FIRST_PORT + (job_number * _PORTS_OF_A_JOB + rank) % _PORTS


def number_of(job_name: str) -> int:
    """A number for a job that has only a name."""
    return zlib.crc32(job_name.encode())
