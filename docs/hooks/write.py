"""Write what the code says of itself: JSON Schemas and pages of formats, words to complete, help. A test compares."""

from __future__ import annotations

import answer_schemas
import completion_words
import formats
import help_pages
import json_schemas


def main() -> None:
    """Write every file, and delete what is no longer made."""
    for made in (formats, json_schemas, answer_schemas):
        folder, documents = made.FOLDER, made.documents()
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.iterdir():
            if path.name not in documents:
                path.unlink()
        for name, text in documents.items():
            (folder / name).write_text(text, encoding="utf-8")
    completion_words.PATH.write_text(completion_words.text(), encoding="utf-8")
    help_pages.PATH.write_text(help_pages.text(), encoding="utf-8")


if __name__ == "__main__":
    main()
