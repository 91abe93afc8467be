"""The JSON of an answer whose study has none of its own: its fields, in their order."""

from podsim.report.json_text import fields_of, text


def document(answer: object) -> str:
    """The fields of a dataclass under the schema of its name: `RackLoad` is podsim.rack-load/1."""
    name = type(answer).__name__
    schema = "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name).strip("-")
    return text(schema, fields_of(answer))
