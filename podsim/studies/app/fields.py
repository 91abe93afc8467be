"""Form fields of a view, made from what its verb declares of its arguments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from podsim.files import find
from podsim.model.argument import NO_DEFAULT, Argument, ArgumentKind
from podsim.scenario import LISTS
from podsim.studies.app import views
from podsim.studies.app.pair import SIDES, TITLES, Pair
from podsim.studies.app.query import CHANGE, Query, app_arguments
from podsim.studies.call_record import FLAGS

if TYPE_CHECKING:
    from podsim.studies.app.views import View

KINDS: Final[dict[str, find.Kind]] = {"workload": "workloads", "topology": "topologies", "chip": "chips"}
"""Arguments whose names podsim lists."""
ACRONYMS: Final = {
    "ipu": "IPU",
    "ipus": "IPUs",
    "io": "I/O",
    "sdk": "SDK",
    "kwh": "kWh",
    "pue": "PUE",
    "p99": "P99",
    "ttft": "Time to first token",
    "tpot": "Time per output token",
    "mfu": "MFU",
}
LABELS: Final = {
    "pod": "IPUs",
    "pods": "IPUs of each pod",
    "changes": "Changed numbers",
    "to": "Compare with machine",
    "to_chip": "Compare with chip",
    "to_sdk": "Compare with SDK",
    "to_preset": "Compare with preset",
    "within": "Time limit",
    "max_power": "Power limit",
    "knee": "Least gain of a doubling",
    "law": "Scaling law",
    "machines": "Machines",
    "topology": "Machine",
    "machine_price": "IPU-Machine price",
    "kwh_price": "Electricity per kWh",
    "rent_per_ipu_hour": "Rent per IPU-hour",
}


FLAG: Final = re.compile(r"--([a-z][a-z0-9-]+)")
FLAGS_BACK: Final = {flag: name for name, flag in FLAGS.items()}


class Field(NamedTuple):
    """One field: name in the query, label, value, and where its slider stops.

    `form` is "select", "switch", "lines" or "text"; `options` are value and text of each choice.
    """

    name: str
    label: str
    form: str
    value: str
    error: str = ""
    help: str = ""
    placeholder: str = ""
    options: tuple[tuple[str, str], ...] = ()
    stops: tuple[str, ...] = ()
    required: bool = False

    @property
    def at(self) -> int:
        """The stop of the slider that the value is, else the one in which the field is empty, else the first."""
        for text in (self.value, ""):
            if text in self.stops:
                return self.stops.index(text)
        return 0


class ScenarioFields(NamedTuple):
    """The fields of one scenario: on top, prices, changed numbers, and the others under their headings.

    `title` tells two scenarios apart, "" of the only one.
    """

    title: str
    first: list[Field]
    prices: list[Field]
    changed: list[Field]
    further: list[tuple[str, list[Field]]]

    @property
    def is_open(self) -> bool:
        """Whether a further field has an error, which must be seen."""
        return any(item.error for _, items in self.further for item in items)


def parts(view: View, query: Query | Pair) -> list[ScenarioFields]:
    """The fields of the question of a view; the names of those of a pair begin with their side."""
    if isinstance(query, Query):
        return [_part(view, query)]
    return [
        _name_parts(_part(view, side_query, title), f"{side}.")
        for side, side_query, title in zip(SIDES, query.sides, TITLES, strict=True)
    ]


def _part(view: View, query: Query, title: str = "") -> ScenarioFields:
    return ScenarioFields(
        title, first(view, query), prices(view, query), slider_fields(view, query), further(view, query)
    )


def _name_parts(part: ScenarioFields, prefix: str) -> ScenarioFields:
    def with_names(items: list[Field]) -> list[Field]:
        return [item._replace(name=prefix + item.name) for item in items]

    more = [(heading, with_names(items)) for heading, items in part.further]
    return ScenarioFields(part.title, with_names(part.first), with_names(part.prices), with_names(part.changed), more)


def first(view: View, query: Query) -> list[Field]:
    """The fields on top of a view."""
    return [_field(app_arguments(view.verb)[name], query) for name in view.first]


def prices(view: View, query: Query) -> list[Field]:
    """The fields of prices that stand next to the question."""
    return [_field(app_arguments(view.verb)[name], query) for name in view.prices]


def slider_fields(view: View, query: Query) -> list[Field]:
    """A field for each number of link, chip and machine that has a slider."""
    texts_by_path = dict(_change(text) for text in query.texts.get("changes", ()))
    if not view.changes:
        return []
    return [
        Field(
            name=CHANGE + path,
            label=label,
            form="text",
            value=texts_by_path.get(path, ""),
            placeholder="unchanged",
            stops=views.FACTORS,
        )
        for path, label in views.SLIDER_TITLES.items()
    ]


def further(view: View, query: Query) -> list[tuple[str, list[Field]]]:
    """The other fields of a view under their headings."""
    arguments_by_name = app_arguments(view.verb)
    result = [
        (heading, [_field(arguments_by_name[name], query) for name in names]) for heading, names in views.groups(view)
    ]
    if view.changes:
        others = [text for text in query.texts.get("changes", ()) if _change(text)[0] not in views.SLIDER_TITLES]
        field = _field(arguments_by_name["changes"], query)._replace(
            label="Other changed numbers", value="\n".join(others)
        )
        result.insert(0, ("Other numbers", [field]))
    return result


def _change(text: str) -> tuple[str, str]:
    path, _, value = text.partition("=")
    return path.strip(), value.strip()


def _field(argument: Argument, query: Query) -> Field:
    name = argument.name
    texts = query.texts.get(name, ())
    form = _form(argument)
    value = "\n".join(texts)
    if not value and argument.default not in (None, NO_DEFAULT, ()):
        value = str(argument.default).lower() if form == "switch" else str(argument.default)
    return Field(
        name=name,
        label=label(argument),
        form=form,
        value=value,
        error=query.errors.get(name, ""),
        help=_help(argument),
        placeholder=_placeholder(argument),
        options=_options(argument, value) if form == "select" else (),
        stops=views.stops(name),
        required=argument.default is NO_DEFAULT,
    )


def label(argument: Argument) -> str:
    """The label of an argument: "IPUs per replica", "Budget, USD"."""
    words = [ACRONYMS.get(word, word) for word in argument.name.split("_")]
    text = LABELS.get(argument.name, " ".join(words))
    unit = f", {argument.unit}" if argument.unit == "USD" else ""
    return f"{text[:1].upper()}{text[1:]}{unit}"


def _help(argument: Argument) -> str:
    """The help of an argument with labels in place of flags; that of names leaves files to the command line."""
    if argument.name in KINDS and "file" in argument.help:
        return ""
    return FLAG.sub(lambda match: _flag_title(match[1]), argument.help)


def _flag_title(flag: str) -> str:
    name = flag.replace("-", "_")
    return LABELS.get(FLAGS_BACK.get(name, name), " ".join(ACRONYMS.get(word, word) for word in name.split("_")))


def _form(argument: Argument) -> str:
    if argument.kind is ArgumentKind.SWITCH:
        return "switch"
    if argument.kind is ArgumentKind.CHOICE or argument.name in KINDS:
        return "select"
    return "lines" if argument.kind in LISTS else "text"


def _placeholder(argument: Argument) -> str:
    if argument.example:
        return f"such as {argument.example.strip(chr(34))}"
    if argument.kind in LISTS:
        return f"{argument.metavar}, a line each"
    return "" if argument.default is NO_DEFAULT else "default"


def _options(argument: Argument, value: str) -> tuple[tuple[str, str], ...]:
    """The choices of a field; a value that is none of them stays there, so that its error has a place."""
    names = find.names(KINDS[argument.name]) if argument.name in KINDS else argument.choices
    empty = (
        ()
        if argument.default not in (None, NO_DEFAULT)
        else (("", "choose" if argument.default is NO_DEFAULT else "default"),)
    )
    other = () if value in ("", *names) else ((value, value),)
    return (*empty, *((name, name) for name in names), *other)


def at_fault(view: View, error: dict[str, Any]) -> str:
    """The field that an error is about, by its code and by the flag or argument that it names; "" where none is.

    The message of one scenario of two begins with its title.
    """
    for side, title in zip(SIDES, TITLES, strict=True):
        start, of_side, rest = error["message"].partition(f"{title}: ")
        if of_side and not start:
            name = at_fault(view, {**error, "message": rest})
            return f"{side}.{name}" if name else ""
    arguments_by_name = app_arguments(view.verb)
    by_code = {"bad-change": "changes", "bad-pod": "pod"}.get(error["code"], error["code"].partition("unknown-")[2])
    texts = [error["message"], *error["context"], error["hint"]]
    words = [word.replace("-", "_") for text in texts for word in FLAG.findall(text)]
    start = error["message"].partition(" ")[0].rstrip(":")
    slider_names = [
        CHANGE + path for path in views.SLIDER_TITLES if view.changes and any(path in text for text in texts[:-1])
    ]
    names = [*slider_names, by_code, start, *(FLAGS_BACK.get(word, word) for word in words)]
    return next((name for name in names if name in arguments_by_name or name in slider_names), "")
