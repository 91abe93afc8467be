"""What podsim says when it cannot, or must not, answer."""

from collections.abc import Iterable, Sequence


class PodsimError(Exception):
    """A message for the user; never a bug."""

    code = "podsim-error"

    def __init__(self, message: str, *, code: str | None = None, context: Sequence[str] = (), hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.code = code or type(self).code
        self.context = tuple(context)
        self.hint = hint

    def __str__(self) -> str:
        """The message with what it is about and what to do, a line each."""
        hint = [f"hint: {self.hint}"] if self.hint else []
        return "\n  ".join((self.message, *self.context, *hint))


class InputError(PodsimError):
    """The question is malformed: bad file, unknown name, impossible number (exit code 2)."""

    code = "bad-input"


class MissingParameter(InputError):
    """A number is needed that no file supplies (exit code 2)."""

    code = "missing-parameter"


class NotWritten(InputError):
    """An answer is there, and the file it was to go into is not (exit code 2); `answer` is what was to be written."""

    code = "cannot-write"

    def __init__(self, message: str, answer: object) -> None:
        super().__init__(message)
        self.answer = answer


class Infeasible(PodsimError):
    """The question is sound and the answer is no (exit code 1)."""

    code = "does-not-fit"


def did_you_mean(word: str, known_words: Iterable[str]) -> str:
    """`; did you mean "…"?` where something known is near, else nothing."""
    near = nearest(word, known_words)
    return f'; did you mean "{near}"?' if near else ""


def nearest(word: str, known_words: Iterable[str]) -> str:
    """The known word that is spelled most alike, "" where none is near."""
    from difflib import get_close_matches  # most questions are spelled right

    names = {name.casefold(): name for name in known_words}
    text = word.casefold()[:100]
    family = [name for name in names if text.startswith(f"{name}-")]  # "llama-7b" is of "llama"
    near = sorted(family, key=len)[-1:] or get_close_matches(text, names, n=1, cutoff=0.6)
    return names[near[0]] if near else ""
