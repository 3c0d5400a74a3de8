"""Who is silent or behind, from what the tasks say of themselves."""

import pytest

from tfdist.cluster import Task
from tfdist.cluster.pulse import Pulse
from tfdist.cluster.verdict import Seen, silence, told, verdict, waiting

ONE, TWO, THREE = (Task("worker", index) for index in range(3))
CHIEF, PS = Task("chief", 0), Task("ps", 0)


def seen(
    what="trains", seconds=0.0, together=True, patience=1.0, place="step 7 of epoch 2", **more
):
    beat = {"what": what, "together": together, "patience": patience, "place": place}
    return Seen({**beat, "seconds": seconds}, **more)


def alone(what, seconds=0.0, patience=10.0, **more):
    return seen(what, seconds, together=False, patience=patience, **more)


def test_steps_that_are_made_are_no_reason():
    assert verdict({ONE: seen(seconds=4), TWO: seen(silent_seconds=4)}, 5) is None


def test_silence_is_told_with_its_place():
    said = verdict({ONE: seen(seconds=1), TWO: seen(silent_seconds=6)}, 5)
    assert said == (
        "worker 1 has been silent for 6 s, last heard when it trains at step 7 of epoch 2; it is "
        "stopped, or its host, or the network between; start the job again."
    )


def test_one_that_was_never_heard_is_silent_too():
    assert verdict({ONE: alone("runs"), TWO: Seen(silent_seconds=6)}, 5).startswith(
        "worker 1 has been silent for 6 s; it is stopped"
    )


def test_who_has_missed_beats_is_why_the_others_wait():
    tasks = {ONE: seen(seconds=6), TWO: seen(seconds=2, silent_seconds=4)}
    assert verdict(tasks, 5).startswith("no task has gone on for 6 s")
    assert verdict(tasks, 5, missed_seconds=3).startswith("worker 1 has been silent for 4 s")


def test_who_waits_for_a_callback_waits_longer_but_not_for_ever():
    tasks = {ONE: seen(seconds=49), TWO: alone("is in a callback", 60), THREE: seen(seconds=49)}
    assert verdict(tasks, 5) is None
    tasks[ONE] = seen(seconds=51)
    assert verdict(tasks, 5) == (
        "worker 1 is behind: it is in a callback at step 7 of epoch 2, and worker 0 has waited "
        "51 s for it (trains at step 7 of epoch 2); start the job again, with a larger "
        "stall_seconds if that may take so long."
    )
    assert waiting(tasks) == ONE
    assert told(ONE, tasks) == "worker 1, which is in a callback at step 7 of epoch 2"


def test_a_callback_for_which_nobody_waits_may_last():
    assert verdict({ONE: alone("is in a callback", 999), TWO: alone("saves", 999)}, 5) is None


def test_who_has_left_by_an_error_is_not_waited_for_so_long():
    tasks = {ONE: seen(seconds=6), TWO: alone("has left fit() by ValueError: no", patience=1)}
    assert verdict(tasks, 5).startswith("worker 1 is behind: it has left fit() by ValueError: no")


def test_one_that_has_ended_is_waited_for_in_vain():
    tasks = {ONE: seen(seconds=6), TWO: alone("is behind fit()", has_left=True, silent_seconds=99)}
    assert verdict(tasks, 5).startswith("worker 1 has ended before the others: worker 0 has waited")
    assert verdict({**tasks, ONE: alone("saves", 99)}, 5) is None


def test_all_wait_at_the_same_place_or_at_different_ones():
    tasks = {ONE: seen(seconds=6), TWO: seen(seconds=5.5)}
    same = "no task has gone on for 6 s (worker 0, worker 1: trains at step 7 of epoch 2)"
    assert verdict(tasks, 5).startswith(same)
    tasks[TWO] = seen("reads its metrics", 5.5, place="the end")
    assert "(worker 0: trains at step 7 of epoch 2; worker 1: reads its metrics at the end)" in (
        verdict(tasks, 5)
    )


def test_the_first_step_may_take_longer():
    assert verdict({ONE: seen(seconds=49, patience=10), TWO: seen(seconds=49)}, 5) is None
    assert verdict({ONE: seen(seconds=51, patience=10), TWO: seen(seconds=51)}, 5) is not None


@pytest.mark.parametrize(
    ("task", "seconds", "said"),
    [
        (PS, 0.0, "ps 0 has been silent for 6 s"),
        (TWO, 0.0, None),
        (TWO, 6.0, "worker 1 has been silent for 6 s"),
    ],
)
def test_a_worker_of_parameter_servers_is_missed_only_when_steps_stop(task, seconds, said):
    tasks = {CHIEF: seen(seconds=seconds), task: alone("serves", 99, 1.0, silent_seconds=6)}
    got = verdict(tasks, 5, frozenset({PS, TWO}))
    assert got is None if said is None else got.startswith(said)
    assert silence(tasks, 5, frozenset()) is not None


def test_a_pulse_is_what_was_begun_last():
    pulse = Pulse()
    with pulse.doing("is in fit()", together=True):
        pulse.reach("step 3")
        with pulse.doing("is in a callback"):
            inside = pulse.beat()
        assert pulse.is_together
        between = pulse.beat()
    pulse.leave("is behind fit()", patience=1)
    after = pulse.beat()
    told = [(each["what"], each["together"], each["patience"]) for each in (inside, between, after)]
    assert told == [
        ("is in a callback", False, 10.0),
        ("is in fit()", True, 10.0),
        ("is behind fit()", False, 1),
    ]
    assert inside["place"] == after["place"] == "step 3"


def test_only_progress_begins_the_count_anew():
    pulse = Pulse()
    pulse._since -= 100
    pulse.reach("step 4")
    assert pulse.beat()["seconds"] > 99
    with pulse.doing("trains", together=True):
        assert pulse.beat()["seconds"] < 99
