"""Parts of the command line by themselves: where an answer and a trace go, progress, completion, signals, requests."""

import inspect
import signal
from pathlib import Path

import pytest
from stand_ins import RESULTS, Terminal

import podsim
from podsim.cli import answer, comparator_answer, completion, out, progress, request, saving, signals
from podsim.cli.exit import ExitCode
from podsim.cli.options import OutputFlags
from podsim.errors import InputError, NotWritten
from podsim.files import inputs
from podsim.report.answer_formats import AnswerDocument
from podsim.report.doc import Doc, Heading
from podsim.report.handout import arrange
from podsim.report.json_document import JsonDocument

ANSWER = {
    "screen": lambda: Doc(((Heading("a title"),),)),
    "document": AnswerDocument(lambda: JsonDocument("x"), {"a": 1}),
    "line": lambda: ("first", "second\x1b[31m"),
}


@pytest.mark.parametrize(
    ("flags", "text"),
    [({"json": True}, '{\n  "schema": "podsim.x/1"'), ({"quiet": True}, "first\nsecond\\x1b[31m\n"), ({}, "a title")],
)
def test_an_answer_is_printed_in_the_form_that_was_chosen(flags, text, capsys):
    answer.give(OutputFlags(**flags), **ANSWER)
    printed = capsys.readouterr()
    assert text in printed.out
    assert not printed.err


def test_warnings_go_to_stderr(capsys):
    answer.warn(["one", "two"], OutputFlags())
    assert capsys.readouterr() == ("", "warning: one\nwarning: two\n")


def test_an_answer_of_a_law_is_printed_and_saved(tmp_path, capsys):
    prediction = podsim.predict("bert", topology="dgx-a100", chips=64)
    report = saving.ReportFlags(out=str(tmp_path / "law.json"))
    assert comparator_answer.print_answer(prediction, report, OutputFlags(json=True)) == ExitCode.ANSWERED
    printed = capsys.readouterr()
    assert (tmp_path / "law.json").read_text("utf-8") == printed.out
    assert "wrote" in printed.err


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("--json", "--out must be a file, not --json"),
        ("a.csv", "a trace is JSON, not .csv"),
        ("gone/a.json", "cannot write gone/a.json"),
    ],
)
def test_a_trace_goes_to_no_such_file(name, why, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=why):
        out.check_out(name)


def test_a_trace_goes_to_stdout_or_nowhere(capsys, tmp_path):
    out.check_out(None)
    out.check_out(out.STDOUT)
    trace = podsim.trace("bert", pod=16, engine="analytic")
    assert out.write_trace(trace, None) == ""
    assert not capsys.readouterr().out
    assert out.write_trace(trace, out.STDOUT) == out.STDOUT
    path = tmp_path / "step.json"
    assert out.write_trace(trace, str(path)) == str(path)
    assert path.read_text("utf-8") == capsys.readouterr().out


@pytest.mark.parametrize("name", ["report", "report.doc"])
def test_a_report_of_no_known_kind_is_refused_with_one_that_is(name):
    with pytest.raises(InputError, match="does not say what to write") as no:
        saving.ReportFlags(out=name).check()
    assert no.value.hint == "--out report.html"


def test_a_further_kind_is_known_to_the_command_that_makes_it(tmp_path):
    flags = saving.ReportFlags(out=str(tmp_path / "rows.parquet"))
    flags.check((".parquet",))
    saving.save(flags, OutputFlags(quiet=True), report=ANSWER["screen"], document=ANSWER["document"])
    assert (tmp_path / "rows.parquet").read_bytes().startswith(b"PAR1")
    with pytest.raises(InputError):
        flags.check()


def test_words_alone_have_no_picture(tmp_path):
    flags = saving.ReportFlags(out=str(tmp_path / "a.svg"))
    with pytest.raises(InputError, match="it has no chart"):
        saving.save(flags, OutputFlags(), report=lambda: arrange(ANSWER["screen"](), ""), document=ANSWER["document"])
    assert not (tmp_path / "a.svg").exists()


def test_an_answer_that_could_not_be_written_is_still_an_answer():
    def ask():
        raise NotWritten("a disk is full", "the answer")

    assert saving.answer_then_raise(ask) == "the answer"


def test_nobody_watches_a_pipe(capsys):
    with progress.progress("weighing", OutputFlags()) as callback:
        assert callback is None


def test_a_bar_is_drawn_once_work_has_lasted_a_second_and_goes_again(monkeypatch):
    screen, now = Terminal(), [100.0]
    monkeypatch.setattr(progress.sys, "stderr", screen)
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with progress.progress("weighing", OutputFlags(), rate="mappings") as callback:
        callback(1, 10)
        assert not screen.getvalue()
        now[0] += progress.PATIENCE_S
        callback(5, 10)
        assert callback.drawn.tasks[0].completed == 5
    assert "weighing" in screen.getvalue()
    assert callback.drawn.finished is False
    with progress.progress("weighing", OutputFlags(quiet=True)) as callback:
        assert callback is None


def test_completion_is_written_for_the_shell_that_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("ZSH_CUSTOM", raising=False)
    monkeypatch.delenv("ZSH", raising=False)
    message = completion.install(["ZSH"])
    assert message == f"wrote {tmp_path}/.zsh/completions/_cyclopts_podsim: completion works in the next zsh session\n"
    assert completion.install(["zsh"]) == message
    assert (tmp_path / ".zshrc").read_text(encoding="utf-8").count("fpath=") == 1


@pytest.mark.parametrize(("words", "code"), [(["tcsh"], "bad-value"), (["bash", "zsh"], "too-many-arguments")])
def test_completion_knows_four_shells_one_at_a_time(words, code):
    with pytest.raises(InputError) as no:
        completion.install(words)
    assert (no.value.code, no.value.hint) == (code, completion.HINT)


def test_completion_that_cannot_be_written_says_why(tmp_path, monkeypatch):
    (tmp_path / ".local").write_text("", encoding="utf-8")
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(InputError, match="completion for bash cannot be written: Not a directory"):
        completion.install(["bash"])


def test_an_interrupt_is_ctrl_c_unless_a_signal_says_otherwise():
    usual = signals.interrupt_of(KeyboardInterrupt())
    assert (usual.code, usual.message, usual.number) == (ExitCode.INTERRUPTED, "interrupted", signal.SIGINT)
    other = signals.ProcessInterrupt(ExitCode.TERMINATED, "terminated", signal.SIGTERM)
    assert signals.interrupt_of(other) is other


def test_of_two_signals_at_once_the_second_changes_nothing(monkeypatch):
    now = [50.0]
    monkeypatch.setattr(signals.time, "monotonic", lambda: now[0])
    handler = signals.SignalHandler()
    with pytest.raises(signals.ProcessInterrupt, match="terminal closed"):
        handler.end(signal.SIGHUP, None)
    handler.end(signal.SIGTERM, None)
    now[0] += signals.PAIR_S
    with pytest.raises(signals.ProcessInterrupt, match="terminated"):
        handler.end(signal.SIGTERM, None)


def bound(*arguments, **flags):
    def predict(workload, *, output=None, pod=16, out=None, results=None): ...

    values = inspect.signature(predict).bind(*arguments, **flags)
    return predict, values


def test_a_question_is_its_flags_that_are_not_as_by_default():
    ledger = inputs.Ledger()
    command, values = bound("bert", output=OutputFlags(quiet=True), pod=64, out="a.json")
    request.note(ledger, command, values)
    assert ledger.flags == {"workload": "bert", "pod": 64}
    command, values = bound("bert", pod=16)
    request.note(ledger, command, values)
    assert ledger.flags == {"workload": "bert"}


def test_the_folder_of_a_file_is_no_part_of_a_question():
    ledger = inputs.Ledger()
    request.note(ledger, *bound("there/own.toml"))
    assert ledger.flags == {"workload": "own.toml"}
    assert ledger.named == {"workload"}


@pytest.mark.parametrize(("flags", "words"), [({"out": "own.toml"}, "reads"), ({"out": "a", "results": "a"}, "writes")])
def test_a_command_writes_over_nothing_of_its_own(flags, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("own.toml").touch()
    with pytest.raises(InputError, match=words) as no:
        request.refuse_overwritten_inputs(bound("own.toml", **flags)[1])
    assert no.value.code == "conflicting-flags"
    request.refuse_overwritten_inputs(bound("own.toml", out="other.json")[1])


def test_hand_made_answers_are_those_that_stand_in():
    assert RESULTS.prediction().workload == "bert"
