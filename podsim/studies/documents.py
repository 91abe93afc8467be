"""Where the keys of answers are declared, which JSON, CSV, Parquet and data frames are made by."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from podsim.report import json_text
from podsim.report.answer_formats import AnswerDocument

if TYPE_CHECKING:
    from podsim.report.json_document import JsonDocument

LOOKED_UP: Final = ("Document", "MachineWithChip", "Listing", "ByName")
"""Types of what is looked up, whose keys depend on what it holds."""
PREDICTION: Final = "predict.PREDICTION"
IN_PHASES: Final = "predict.PHASES"
"""A prediction of a run in phases has keys of its own."""
DOCUMENTS: Final = {
    "podsim.model.prediction.Prediction": PREDICTION,
    "podsim.model.comparator.ComparatorPrediction": "predict.LAW",
    "podsim.model.comparator.ComparatorReport": "predict.COMPARATORS",
    "podsim.model.sweep.SweepReport": "sweep.SWEEP",
    "podsim.studies.plan.result.Plan": "plan.PLAN",
    "podsim.studies.plan.serving_result.ServingPlan": "plan.SERVING",
    "podsim.studies.plan.mix_result.MixPlan": "plan.MIX",
    "podsim.studies.scale.result.ScaleReport": "scale.SCALE",
    "podsim.studies.compare.result.Comparison": "compare.COMPARISON",
    "podsim.studies.mappings.result.Mappings": "mappings.MAPPINGS",
    "podsim.studies.explain.result.Explanation": "explain.EXPLANATION",
    "podsim.studies.explain.measurements_result.MeasurementRanking": "explain.MEASUREMENTS",
    "podsim.studies.explain.ranking_result.OperatorRanking": "explain.OPERATORS",
    "podsim.model.inference.InferenceReport": "infer.INFERENCE",
    "podsim.model.goodput.GoodputReport": "goodput.GOODPUT",
    "podsim.model.collective.CollectiveReport": "collective.COLLECTIVE",
    "podsim.model.stencil.StencilReport": "stencil.STENCIL",
    "podsim.model.sampler.SamplerReport": "sample.SAMPLE",
    "podsim.studies.op.result.OperatorReport": "op.OPERATOR",
    "podsim.model.trace.Trace": "trace.TRACE",
    "podsim.studies.trace.difference_result.TraceDifference": "trace.DIFFERENCE",
    "podsim.studies.diff.result.Difference": "diff.DIFFERENCE",
    "podsim.model.validation.Validation": "validate.VALIDATION",
    "podsim.model.validation.CoverageReport": "validate.COVERAGE",
    "podsim.model.validation.HoldOuts": "validate.HOLD_OUTS",
    "podsim.model.validation.FreezeReport": "validate.FROZEN_DOCUMENT",
    "podsim.model.microbenchmark.MicrobenchmarkReport": "validate.MICROBENCHMARKS",
    "podsim.model.claims.ClaimsReport": "validate.CLAIMS",
    "podsim.model.published.PublishedReport": "validate.PUBLISHED_DOCUMENT",
    "podsim.model.validation.FitReport": "calibrate.FIT",
    "podsim.model.noise.NoiseFit": "calibrate.NOISE",
    "podsim.calibration.framework_fit.FrameworkFit": "calibrate.FRAMEWORKS",
    "podsim.calibration.start_time_fit.StartFit": "calibrate.COMPILE_TIMES",
    "podsim.model.own_logs.OwnLogsReport": "calibrate.OWN_LOGS",
}
"""Where the keys of each type of answer are declared: the study, which is loaded when one is written, and the name."""


def of(answer: object) -> JsonDocument:
    """The document of an answer: what its study declares, or the fields of its type."""
    name = DOCUMENTS.get(f"{type(answer).__module__}.{type(answer).__name__}")
    if name is None:
        return json_text.by_fields(answer)
    return document_named(IN_PHASES if name == PREDICTION and getattr(answer, "phases", None) else name)


def document_named(name: str) -> JsonDocument:
    """The document of that name: "predict.LAW" of the study `predict`."""
    study, _, name = name.partition(".")
    document: JsonDocument = getattr(import_module(f"podsim.studies.{study}.json_keys"), name)
    return document


def answer_document(answer: object) -> AnswerDocument:
    """The answer of a study as programs read it."""
    if type(answer).__name__ in LOOKED_UP:
        sheets = import_module("podsim.studies.look_up.sheets")
        document: AnswerDocument = sheets.answer_document(answer)
        return document
    return AnswerDocument(lambda: of(answer), answer)
