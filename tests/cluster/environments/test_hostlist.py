"""Slurm's short forms of node lists and counts."""

import pytest

from tfdist.cluster.environments.hostlist import expand_counts, expand_hosts

HOSTS = {
    "n1": "n1",
    "n1,n2": "n1 n2",
    "n[1-3]": "n1 n2 n3",
    "n[1-3,07,10-12]": "n1 n2 n3 n07 n10 n11 n12",
    "n[2,7,10]": "n2 n7 n10",
    "n[9-11]": "n9 n10 n11",
    "n[08-11]": "n08 n09 n10 n11",
    "n[098-101]": "n098 n099 n100 n101",
    "n[5]": "n5",
    "gpu-[1-2]-eth0": "gpu-1-eth0 gpu-2-eth0",
    "r[1-2]n[1-2]": "r1n1 r1n2 r2n1 r2n2",
    "r[1,3]c[0-1]n[07-08]": "r1c0n07 r1c0n08 r1c1n07 r1c1n08 r3c0n07 r3c0n08 r3c1n07 r3c1n08",
    "login,n[1-2],r[1-2]n[3],z.example.org": "login n1 n2 r1n3 r2n3 z.example.org",
}


@pytest.mark.parametrize("text", HOSTS)
def test_expand_hosts(text):
    assert expand_hosts(text) == HOSTS[text].split()


WRONG_HOSTS = {
    "": "'' is no node list like",
    "n1,,n2": "is no node list",
    "n1,": "is no node list",
    "n[1-3": "is no node list",
    "n1-3]": "is no node list",
    "n[[1-2]]": "is no node list",
    "n[]": "'' is no range like 1-3",
    "n[a-b]": "'a-b' is no range like 1-3",
    "n[1-2-3]": "'1-2-3' is no range like 1-3",
    "n[3-1]": "'3-1' is a range that ends before it begins",
}


@pytest.mark.parametrize("text", WRONG_HOSTS)
def test_wrong_hosts(text):
    with pytest.raises(ValueError, match=WRONG_HOSTS[text].replace("[", r"\[")):
        expand_hosts(text)


COUNTS = {"1": [1], "1(x2)": [1, 1], "2(x3),1": [2, 2, 2, 1], "3,1(x2),4": [3, 1, 1, 4]}


@pytest.mark.parametrize("text", COUNTS)
def test_expand_counts(text):
    assert expand_counts(text) == COUNTS[text]


@pytest.mark.parametrize("text", ["", "x", "2(x)", "2(3)", "2(x3", "1,,2"])
def test_wrong_counts(text):
    with pytest.raises(ValueError, match="is no count like 2 or 2"):
        expand_counts(text)
