"""What MLPerf result logs say: runs with their events, and what could not be read."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """One thing to know about a file; `line` is 0 where it is about all of it."""

    file: str
    line: int
    text: str

    @property
    def where(self) -> str:
        """The file, with the line where there is one."""
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSpan:
    """From one event to another, seconds after `run_start`; `epoch_count` as logged, None where it is not."""

    start_s: float
    stop_s: float
    epoch_count: float | None = None

    @property
    def length_s(self) -> float:
        """How long it took [s]."""
        return self.stop_s - self.start_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """One evaluation: when, the quality it found, and what the log calls its epoch (BERT: samples)."""

    span: LogSpan
    quality: float | None = None
    epoch_num: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRun:
    """One complete run of a log; texts are "" and numbers None where the log does not say.

    `clock_s` goes from run_start to run_stop, `init_s` from the first event to run_start. `samples_set` is what
    train_samples says before the first block, `samples_done` what it says after. `unpaired`: a block or epoch has only
    one of its ends.
    """

    file: str
    line: int
    began_ms: float
    clock_s: float
    init_s: float
    status: str
    blocks: tuple[LogSpan, ...]
    epochs: tuple[LogSpan, ...]
    evaluations: tuple[Evaluation, ...]
    unpaired: bool = False
    platform: str = ""
    organisation: str = ""
    division: str = ""
    benchmark: str = ""
    optimizer: str = ""
    learning_rate: float | None = None
    global_batch: int | None = None
    accumulation: int | None = None
    seed: int | None = None
    target: float | None = None
    samples_set: float | None = None
    samples_done: float | None = None
    throughput_samples_per_s: float | None = None

    @property
    def reached_target(self) -> bool:
        """Whether the run says that it succeeded and no logged quality contradicts it."""
        values = [evaluation.quality for evaluation in self.evaluations if evaluation.quality is not None]
        has_missed_target = self.target is not None and bool(values) and max(values) < self.target
        return self.status == "success" and not has_missed_target


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemFile:
    """What a system description says: its name, chip, accelerators in all, Poplar SDK; "" and 0 where it does not."""

    name: str
    chip: str
    chips: int
    sdk: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LogTree:
    """Everything read below one folder."""

    files: int
    runs: tuple[LogRun, ...]
    systems: tuple[SystemFile, ...]
    remarks: tuple[Remark, ...]
