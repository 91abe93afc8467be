"""Notes of answers and their sentences."""

import copy

import pytest

from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.report.json_text import plain

CHIP = AnswerNote.of(NoteCode.CHIP_DEFAULT, chip="gc200")
GIVEN = AnswerNote.of(NoteCode.GIVEN)
STORAGE = {"place": "streaming memory", "over_all": False, "checkpoint_bits": 32}
SHORTEST = {
    "legal": 1,
    "faster": None,
    "faster_replicas": 1,
    "faster_size": 1,
    "past_global_batch": None,
    "micro_batches": (),
    "most_ipus": None,
    "compares": False,
    "by_rate": False,
}


def test_a_note_is_its_sentence_wherever_it_is_printed():
    assert str(CHIP) == f"{CHIP}" == plain(CHIP) == "chip gc200, default of this machine"
    assert f"{GIVEN:>7}" == "  given"
    assert plain((CHIP, GIVEN)) == [str(CHIP), "given"]


def test_notes_are_equal_where_they_say_the_same_of_the_same_values():
    one, other = (
        AnswerNote.of(NoteCode.IPUS_IDLE, **values) for values in ({"idle": 1, "ipus": 4}, {"ipus": 4, "idle": 1})
    )
    assert one == other
    assert len({one, other, one.but(idle=2)}) == 2
    assert one != AnswerNote.of(NoteCode.IPUS_IDLE, caveat=True, idle=1, ipus=4)
    assert copy.deepcopy(one) == one


def test_other_values_leave_the_fact_and_its_caveat():
    note = AnswerNote.of(NoteCode.CHIP_DEFAULT, caveat=True, chip="gc2").but(chip="bow")
    assert (note.code, note.caveat, note.values) == (NoteCode.CHIP_DEFAULT, True, (("chip", "bow"),))


def test_a_note_without_a_value_of_its_sentence_is_none():
    with pytest.raises(KeyError):
        str(AnswerNote.of(NoteCode.CHIP_DEFAULT))


@pytest.mark.parametrize(
    ("code", "values", "text"),
    [
        (NoteCode.HOSTS, {"hosts": 1024, "basis": GIVEN}, "hosts: 1,024, given"),
        (NoteCode.HOSTS_AS_PUBLISHED, {"ipus": 1}, "as in published runs on 1 IPU"),
        (NoteCode.HOSTS_AS_PUBLISHED, {"ipus": 4096}, "as in published runs on 4,096 IPUs"),
        (
            NoteCode.CHIP_NOT_CALIBRATED,
            {"chip": "c600", "chips": ("bow", "gc200")},
            "no calibration point on c600: fitted parameters of bow, gc200 are used",
        ),
        (
            NoteCode.SDK_CLAIMED,
            {"sdk": "1.4", "like": "2.1", "factor": 1.2345, "error": 0.104, "workloads": ("bert",)},
            (
                "no run with SDK 1.4 is published: software overheads are 1.23 × those of 2.1 (± 10 %), the rest as "
                "with 2.1, the vendor's claim for bert"
            ),
        ),
        (NoteCode.LOAD_DEFAULT, {"share": 0.8}, "load: 80 % of the maximum throughput, default"),
        (
            NoteCode.SERVING_TIMES_VARY,
            {"variation": 0.125},
            "service times of batches vary by 12.5 % (standard deviation), gamma distributed",
        ),
        (
            NoteCode.STATE_STORAGE,
            {**STORAGE, "sharded": True, "moment_bits": (16, 32)},
            (
                "optimizer state streaming memory, sharded over the replicas of a rack, 16- and 32-bit moments, 32-bit "
                "checkpoints"
            ),
        ),
        (
            NoteCode.STATE_STORAGE,
            {**STORAGE, "sharded": False, "moment_bits": ()},
            "optimizer state streaming memory, no moments, 32-bit checkpoints",
        ),
        (NoteCode.SHORTEST_TIME, SHORTEST, "the only legal mapping"),
        (
            NoteCode.SHORTEST_TIME,
            {**SHORTEST, "micro_batches": (22,)},
            "the only legal mapping with a micro-batch of a published run (22)",
        ),
        (
            NoteCode.SHORTEST_TIME,
            {**SHORTEST, "legal": 90, "micro_batches": (18, 20, 22)},
            (
                "shortest expected time to train of 90 legal mappings tried with a micro-batch of a published run "
                "(18, 20 or 22)"
            ),
        ),
        (
            NoteCode.ALL_SPEND_MORE,
            {"longer": 1.0, "part": "gradient all-reduce", "more": 1.38},
            (
                "a run on all of them would take 100 % longer, since gradient all-reduce would add 140 % and all else "
                "would save 40 %"
            ),
        ),
        (
            NoteCode.ALL_SPEND_MORE,
            {"longer": 0.035, "part": "sync", "more": 0.021},
            "a run on all of them would take 3.5 % longer, since sync would add 2.1 %",
        ),
        (
            NoteCode.SHORTEST_TIME,
            {**SHORTEST, "legal": 9, "micro_batches": (2, 3), "most_ipus": 16},
            (
                "shortest expected time to train of 9 legal mappings tried with a micro-batch of a published run "
                "(2 or 3) and replicas of at most 16 IPUs, twice the largest published"
            ),
        ),
        (
            NoteCode.SHORTEST_TIME,
            {**SHORTEST, "legal": 12, "by_rate": True, "compares": True},
            (
                "highest throughput of 12 legal mappings tried; "
                "podsim workload map compares other micro-batches and storage"
            ),
        ),
        (
            NoteCode.OTHER_STEP_CALLS,
            {"returns": True, "configuration": "popart", "change": -0.25},
            "a call from the host each step, as in popart; with a loop on the device, a step takes 25 % less",
        ),
        (
            NoteCode.OTHER_COLLECTIVES,
            {"merged": False, "configuration": "popart", "change": 0.25},
            (
                "a collective for each weight tensor or buffer, as in popart; with collectives merged into one, a step "
                "takes 25 % longer"
            ),
        ),
        (
            NoteCode.COMPILE_TIMES_OF_OTHERS,
            {"frameworks": ("PopRT", "PopTorch", "PopXL"), "framework": "PopART"},
            "compile time: none is published for PopART; those of PopRT, PopTorch and PopXL are used",
        ),
        (
            NoteCode.COMPILE_TIMES_OF_OTHERS,
            {"frameworks": ("PopXL",), "framework": None},
            "compile time: no framework is stated; those of PopXL are used",
        ),
        (NoteCode.ONE_RACK_FOR_ALL, {"kinds": 1}, "all racks do the same: the links shown are those of the first rack"),
        (
            NoteCode.ONE_RACK_FOR_ALL,
            {"kinds": 2},
            "all racks of each of 2 kinds do the same: the links shown are those of the first of each kind",
        ),
        (
            NoteCode.GLOBAL_BATCH_TOO_LARGE,
            {"batch": 64, "reference_global_batch": 1e4, "recipe": None, "title": "IPU-POD4"},
            (
                "global batch 64: the activations of the published batch of 10,000 do not fit the streaming memory of "
                "IPU-POD4; set another with --global-batch"
            ),
        ),
        (
            NoteCode.GLOBAL_BATCH_DOES_NOT_DIVIDE,
            {"batch": 64, "reference_global_batch": 1e4, "recipe": GIVEN, "title": "IPU-POD4"},
            (
                "global batch 64: 10,000, given, does not divide over the replicas of IPU-POD4, this is the nearest "
                "that does; set another with --global-batch"
            ),
        ),
        (NoteCode.AS_PUBLISHED, {"locator": "row 3", "accumulation": None}, "as published: row 3"),
        (
            NoteCode.AS_PUBLISHED,
            {"locator": "row 3", "accumulation": 1024},
            "as published: row 3, with accumulation 1,024",
        ),
        (NoteCode.FILE_TEXT, {"text": "as {written}: 50%"}, "as {written}: 50%"),
    ],
)
def test_sentences_format_their_values(code, values, text):
    assert str(AnswerNote.of(code, **values)) == text


@pytest.mark.parametrize(("tokens", "middle"), [(None, ""), (1.2e9, "; 1.2 B tokens, 20 per parameter")])
@pytest.mark.parametrize(
    ("outside", "first"), [(None, ""), (8192, "; a batch of 8,192 lies outside its points, 1 to 4,096")]
)
def test_samples_of_points_say_what_is_known(tokens, middle, outside, first):
    note = AnswerNote.of(
        NoteCode.SAMPLES_OF_POINTS,
        basis=AnswerNote.of(NoteCode.SAMPLES_OF_REFERENCE),
        outside=outside,
        first=1,
        last=4096,
        tokens=tokens,
        each=20.0,
        critical=2048.4,
    )
    assert str(note) == f"reference points{first}{middle}; critical batch size 2,048 samples"
