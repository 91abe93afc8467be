"""Results made by hand, with round numbers, for tests of what is printed."""

from dataclasses import replace

from podsim.model.calibration import FittedParameter
from podsim.model.chip import Precision
from podsim.model.error_summary import ErrorSummary
from podsim.model.mapping import Mapping, Stage
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.prediction import Choice, ConsideredMapping, MemoryFit, Prediction, Run, StageMemory
from podsim.model.program import Part, StepTimeline
from podsim.model.quantity import Estimate, Grade
from podsim.model.training import Division, Recompute, Schedule, SoftwareConfiguration, StatePlace
from podsim.model.validation import FitReport, Validation, ValidationPoint
from podsim.model.workload import Kind, LayerUnit, Matmul, Operator

CONFIGURATION = SoftwareConfiguration(
    name="popart-v1.1-pod64",
    source="mlperf-training-v1-1",
    chips=("gc200",),
    ipus_per_replica=(8,),
    schedule=Schedule.GROUPED,
    recompute=Recompute.CHECKPOINTS,
    state=StatePlace.ON_CHIP,
    state_sharded=True,
    moment_bytes=(4, 4),
    gradient_bytes=2,
    checkpoint_bytes=2,
)
BREAKDOWN_S = {
    Part.COMPUTE: 0.160,
    Part.EXCHANGE: 0.013,
    Part.SYNC: 0.004,
    Part.TRANSFER: 0.0,
    Part.BUBBLE: 0.046,
    Part.ALL_REDUCE: 0.022,
}
PRECISION = Precision.FP16_16


def of_text(text: str) -> AnswerNote:
    """A note that reads as this text."""
    return AnswerNote.of(NoteCode.FILE_TEXT, text=text)


def unit(name: str, group: str) -> LayerUnit:
    """A unit of one small product."""
    operator = Operator(name=f"{name}/product", kind=Kind.MATMUL, shape=Matmul(m=2, k=3, n=4), weight_tensors=1)
    return LayerUnit(name=name, group=group, operators=(operator,), checkpoint=True)


def mapping(replicas: int = 64, accumulation: int = 27) -> Mapping:
    """BERT's split on a pod of 8 IPUs a replica."""
    stages = tuple(Stage(index=index, ipu=index % 8, units=(unit(f"layer{index}", "ffn"),)) for index in range(9))
    return Mapping(
        replicas=replicas,
        ipus_per_replica=8,
        micro_batch=2,
        accumulation=accumulation,
        stages=stages,
        configuration=CONFIGURATION,
        samples_per_row=2,
    )


def estimate(value: float, low: float, high: float, beyond: float = 4.0) -> Estimate:
    """An estimate beyond the calibrated machines."""
    return Estimate(value=value, low=low, high=high, grade=Grade.EXTRAPOLATED, beyond=beyond)


def considered(accumulation: int, time_s: float, step_s: float, samples: float, bubble: float) -> ConsideredMapping:
    """A mapping that differs in accumulation."""
    return ConsideredMapping(
        mapping=mapping(accumulation=accumulation),
        time_to_train_s=time_s,
        step_s=step_s,
        samples=samples,
        bubble=bubble,
        memory=0.71,
    )


def memory() -> MemoryFit:
    """Eight IPUs, the last the fullest."""
    return MemoryFit(
        capacity_bytes=900e6,
        ipus=tuple(
            StageMemory(
                ipu=ipu,
                stages=(0, 8) if ipu == 0 else (ipu,),
                by_category={"weights": 300e6, "activations": 270e6 + ipu * 10e6},
                tiles=1_408,
                largest="layer0.ffn.down weight-gradient",
            )
            for ipu in range(8)
        ),
        streaming_bytes_per_ipu=0.0,
        streaming_capacity_bytes_per_ipu=56e9,
    )


def choice() -> Choice:
    """Three mappings that differ in accumulation: more of it thins the bubble and needs more samples."""
    return Choice(
        given="search",
        legal=84,
        rejected={"does not fit in SRAM": 2980, "does not divide": 611},
        considered=(
            considered(27, 148.0, 0.245, 3.60e6, 0.188),
            considered(54, 161.0, 0.470, 3.97e6, 0.104),
            considered(14, 171.0, 0.151, 3.40e6, 0.301),
        ),
        reason=of_text("a batch of 13,824 thins the bubble but needs 3.97 M samples"),
    )


def prediction(beyond: float = 4.0) -> Prediction:
    """BERT on 512 IPUs, with the numbers of nobody's machine."""
    return Prediction(
        workload="bert",
        workload_title="BERT-Large, MLPerf",
        target="0.72 masked-LM accuracy",
        topology="pod512",
        topology_title="IPU-POD512",
        chip="gc200",
        ipus=512,
        sdk="2.3",
        division=Division.CLOSED,
        optimizer="lamb",
        hosts=8,
        engine="des",
        mapping=mapping(),
        choice=choice(),
        timeline=StepTimeline(step_s=0.245, period_s=0.004, breakdown_s=BREAKDOWN_S, spans=(), events=4000),
        step_s=estimate(0.245, 0.230, 0.262, beyond),
        throughput_samples_per_s=estimate(28212.0, 26300.0, 30000.0, beyond),
        samples_to_converge=estimate(3.60e6, 3.2e6, 4.1e6, beyond),
        time_to_train_s=estimate(148.0, 126.0, 186.0, beyond),
        run=Run(
            steps=511,
            evaluations=7,
            interval_samples=5e5,
            startup_s=14.0,
            training_s=125.2,
            evaluation_s=8.8,
            checkpoint_s=0.0,
        ),
        mfu=0.11,
        memory=memory(),
        limited_by=of_text(
            "the batch: convergence holds it at 6,912, so accumulation falls to 27 and 8 stages idle more"
        ),
        assumptions=tuple(map(of_text, ("division closed", "SDK 2.3, the newest calibrated", "8 hosts"))),
        calibration="16 calibration points, held-out error 5.8 %",
    )


def far_prediction() -> Prediction:
    """The same, too far out for more than one digit."""
    return prediction(beyond=256.0)


def given_prediction() -> Prediction:
    """The same with its mapping given, so that nothing was weighed."""
    result = prediction()
    return replace(
        result, choice=Choice(given="flags", legal=1, rejected={}, considered=(), reason=AnswerNote.of(NoteCode.GIVEN))
    )


def validation(worst: float = 0.049) -> Validation:
    """Two points by two quantities."""

    def point(name: str, quantity: str, published: float, error: float) -> ValidationPoint:
        return ValidationPoint(
            id=name,
            quantity=quantity,
            published=published,
            predicted=published * (1 + error),
            error=error,
            held_out_error=2 * error,
        )

    points = (
        point("bert/pod16/v1.1-closed", "step_s", 1.21, 0.006),
        point("bert/pod64/v1.1-closed", "step_s", 0.31, -0.049),
        point("bert/pod16/v1.1-closed", "time_to_train_s", 1962.0, 0.012),
        point("bert/pod64/v1.1-closed", "time_to_train_s", 633.0, -0.013),
        point("bert/pod64/v1.1-closed", "time_to_train_predicted_samples_s", 633.0, 0.031),
    )
    held_out = ErrorSummary(count=2, mean_abs=0.036, mean_signed=-0.004, worst=-0.058)
    step = ErrorSummary(count=2, mean_abs=0.024, mean_signed=0.001, worst=worst, held_out=held_out)
    return Validation(points=points, summary={"step_s": step, "time_to_train_s": step})


def fit_report() -> FitReport:
    """Two parameters, one hardly informed."""

    def fitted(value: float, error: float, meaning: str) -> FittedParameter:
        return FittedParameter(value=value, error=error, prior=0.5, prior_error=0.3, pull=-0.9, meaning=meaning)

    summary = ErrorSummary(count=16, mean_abs=0.024, mean_signed=0.001, worst=-0.049)
    return FitReport(
        parameters={
            "compute.efficiency": fitted(0.412, 0.01, "share of the AMP rate that products reach"),
            "exchange.efficiency": fitted(0.63, 0.44, "share of the exchange rate"),
        },
        correlations=(("compute.efficiency", "exchange.efficiency", -0.87),),
        evaluations=14,
        in_sample=summary,
        held_out=replace(summary, mean_abs=0.036, worst=0.058),
        warnings=(
            "exchange.efficiency: barely informed by these points, its error is 44 %",
            "compute.efficiency and exchange.efficiency correlate -0.87 and are hard to tell apart",
        ),
        path="calibration/parameters.toml",
    )
