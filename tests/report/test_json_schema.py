"""The keys that studies declare: what they write, what they refuse, and the schemas that follow from them."""

import json
from copy import deepcopy
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from samples_of_results import fit_report, prediction, validation

import podsim
from podsim.cli.command_line import main
from podsim.report import json_schema
from podsim.report.answer_formats import AnswerDocument
from podsim.report.json_document import JsonDocument
from podsim.report.json_text import tree
from podsim.studies import documents, schemas
from podsim.studies.calibrate import json_keys as calibrate
from podsim.studies.collective import json_keys as collective
from podsim.studies.compare import json_keys as compare
from podsim.studies.diff import json_keys as diff
from podsim.studies.documents import answer_document
from podsim.studies.explain import json_keys as explain
from podsim.studies.goodput import json_keys as goodput
from podsim.studies.infer import json_keys as infer
from podsim.studies.look_up import json_keys as look_up
from podsim.studies.mappings import json_keys as mappings
from podsim.studies.op import json_keys as op
from podsim.studies.plan import json_keys as plan
from podsim.studies.predict import json_keys as predict
from podsim.studies.sample import json_keys as sample
from podsim.studies.scale import json_keys as scale
from podsim.studies.stencil import json_keys as stencil
from podsim.studies.sweep import json_keys as sweep
from podsim.studies.trace import json_keys as trace
from podsim.studies.validate import json_keys as validate

ANALYTIC: dict[str, Any] = {"pod": 16, "engine": "analytic"}
ANSWERS = {
    "a prediction": prediction,
    "a prediction with noise": lambda: podsim.predict("bert", pod=16, noise_scale=1, steps=50),
    "a run without a length": lambda: podsim.predict("vit-base", **ANALYTIC),
    "a run in phases": lambda: podsim.predict("bert-large-full", **ANALYTIC),
    "a law": lambda: podsim.predict("bert", topology="dgx-a100", chips=64),
    "mappings": lambda: podsim.mappings("resnet50", pod=4, replicas=4, ipus_per_replica=1, micro_batch=8, most=2),
    "a size": lambda: podsim.scale("resnet50", pods=(16, 64), engine="analytic", against="dgx-a100"),
    "sides": lambda: podsim.compare("resnet50", ("pod16", "dgx-a100")),
    "serving": lambda: podsim.infer("resnet50", pod=4, rate="10k/s", requests=500, batches="1..2"),
    "tokens": lambda: podsim.infer("gpt2-small", pod=4, generate=8, engine="analytic", requests=50),
    "an operator": lambda: podsim.op("softmax", rows=4096, columns=512),
    "a stencil": lambda: podsim.stencil("heat-2d", grid="14000x14000", pod=4),
    "a sampler": lambda: podsim.sample("abc-covid19", samples=100_000, pod=4),
    "a collective": lambda: podsim.collective("all-reduce", topology="pod16", bytes="1 MiB"),
    "a trace": lambda: podsim.trace("bert", pod=16, most_spans=110),
    "a plan": lambda: podsim.plan("resnet50", within="6min", machines="pod64", explain=True),
    "errors": validation,
    "a fit": fit_report,
}


LOOK_UPS = (
    "chip list",
    "chip show gc200",
    "topology list",
    "topology show pod16 --links",
    "topology show torus-2d-4x4",
    "topology show dgx-a100",
    "workload list",
    "workload show resnet50",
    "check topologies/pod128.toml",
    "config show predict",
)
STUDIES = (
    calibrate,
    collective,
    compare,
    diff,
    explain,
    goodput,
    infer,
    look_up,
    mappings,
    op,
    plan,
    predict,
    sample,
    scale,
    stencil,
    sweep,
    trace,
    validate,
)


@cache
def closed() -> dict[str, list[Any]]:
    """The schemas by name, in which no object has a key that is not declared."""
    table = deepcopy(schemas.schemas())
    close(table)
    return {name: [Draft202012Validator(schema) for schema in each] for name, each in table.items()}


def close(part: object) -> None:
    if isinstance(part, dict):
        if part.get("type") == "object" and "properties" in part and "inputs" not in part["properties"]:
            part["additionalProperties"] = False
        for inner in part.values():
            close(inner)
    elif isinstance(part, list):
        for inner in part:
            close(inner)


def faults(document: Any) -> list[str]:
    """What of a document its schema does not allow: nothing where one of that name allows all."""
    each = [
        [f"{fault.json_path}: {fault.message[:200]}" for fault in schema.iter_errors(document)]
        for schema in closed()[document["schema"]]
    ]
    return min(each, key=len)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(ANSWERS))
def test_an_answer_has_the_keys_and_types_of_its_schema(name: str) -> None:
    document = answer_document(ANSWERS[name]()).tree()
    assert faults(document) == []


@pytest.mark.slow
@pytest.mark.parametrize("command", LOOK_UPS)
def test_what_is_looked_up_has_the_keys_and_types_of_its_schema(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command.split(), "--json"]) == 0
    assert faults(json.loads(capsys.readouterr().out)) == []


def test_a_prediction_has_the_keys_and_types_of_its_schema_and_no_others() -> None:
    document = answer_document(prediction()).tree()
    assert faults(document) == []
    assert faults({**document, "ipus": "512"}) == ["$.ipus: '512' is not of type 'integer'"]
    assert faults({**document, "memory": {**document["memory"], "more": 1}})
    assert faults({key: value for key, value in document.items() if key != "grades"})


def test_every_schema_is_one() -> None:
    for name, each in schemas.schemas().items():
        for schema in each:
            Draft202012Validator.check_schema(schema)
            assert schema["properties"]["schema"] == {"const": name}


def test_every_document_of_a_study_belongs_to_a_type() -> None:
    names = (*documents.DOCUMENTS.values(), documents.IN_PHASES, *schemas.LOOK_UPS)
    of_types = [documents.document_named(name) for name in names]
    for study in STUDIES:
        for document in vars(study).values():
            assert not isinstance(document, JsonDocument) or any(document is other for other in of_types)


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wheel:
    spokes: int
    radius_m: float
    colour: Colour = Colour.RED

    @property
    def rim_m(self) -> float:
        return 6 * self.radius_m


@dataclass(frozen=True, slots=True, kw_only=True)
class Bicycle:
    name: str
    wheels: tuple[Wheel, ...]
    spare: Wheel | None = None
    sizes: tuple[tuple[str, int], ...] = ()
    is_known: bool = True

    def gears(self) -> int:
        return 3


BICYCLE = Bicycle(name="a", wheels=(Wheel(spokes=8, radius_m=0.123456789012345),), sizes=(("frame", 58),))


def keys_of(words: str, **others: Any) -> dict[str, Any]:
    """The keys of the bicycle after the head of the document, which its schema allows."""
    document = JsonDocument("bicycle", {"Bicycle": words, **others})
    table = tree(document, BICYCLE)
    schema = json_schema.schema(document, Bicycle)
    close(schema)
    schema["additionalProperties"] = False
    assert list(Draft202012Validator(schema).iter_errors(table)) == []
    return {key: value for key, value in table.items() if key not in ("schema", "podsim", "inputs")}


def test_fields_are_the_keys_where_none_are_declared() -> None:
    table = answer_document(BICYCLE).tree()
    assert table["schema"] == "podsim.bicycle/1"
    assert table["wheels"] == [{"spokes": 8, "radius_m": 0.123456789012, "colour": "red"}]


@pytest.mark.parametrize(
    ("words", "table"),
    [
        ("name spokes=wheels.spokes", {"name": "a", "spokes": [8]}),
        ("* -wheels -sizes -is_known", {"name": "a", "spare": None}),
        ("spare? name?None sizes?spare", {"name": "a"}),
        ("sizes{part,cm}", {"sizes": [{"part": "frame", "cm": 58}]}),
        (
            "count=len(wheels) gears kind='bike' none=None all=[]",
            {"count": 1, "gears": 3, "kind": "bike", "none": None, "all": []},
        ),
        ("of.name=name of.spokes=spare.spokes", {"of": {"name": "a", "spokes": None}}),
        ("+spare name[spare] gears[is_known]", {"name": None, "gears": 3}),
        ("radius_m~=wheels.radius_m", {"radius_m": [0.123457]}),
    ],
)
def test_words_declare_keys(words: str, table: dict[str, Any]) -> None:
    assert keys_of(words) == table


def test_types_within_have_keys_of_their_own() -> None:
    assert keys_of("wheels", Wheel="rim_m spokes") == {"wheels": [{"rim_m": 0.740740734074, "spokes": 8}]}


def test_a_word_that_declares_no_key_is_refused() -> None:
    with pytest.raises(ValueError, match="declares no key"):
        tree(JsonDocument("bicycle", {"Bicycle": "name=wheels!"}), BICYCLE)


def test_a_key_of_no_attribute_has_no_schema() -> None:
    with pytest.raises(TypeError, match="Bicycle has no saddle"):
        json_schema.schema(JsonDocument("bicycle", {"Bicycle": "saddle"}), Bicycle)


def test_rows_of_a_table_come_from_the_same_keys() -> None:
    document = JsonDocument("bicycle", {"Bicycle": "name wheels", "Wheel": "spokes"}, rows="wheels")
    assert AnswerDocument(lambda: document, BICYCLE).csv() == "spokes\n8\n"
