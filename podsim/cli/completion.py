"""Shell completion: a script for bash, zsh, fish or PowerShell, where the shell looks for it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal, get_args

from podsim.errors import InputError

if TYPE_CHECKING:
    from cyclopts import App

Shell = Literal["bash", "zsh", "fish", "powershell"]
SHELLS: Final[tuple[Shell, ...]] = get_args(Shell)
HINT: Final = "podsim --install-completion bash"


def install(app: "App", words: Sequence[str]) -> str:
    """Write the script of the shell named, or of the one that runs; what to say of it.

    Raises InputError: no such shell, none to be seen, or nothing can be written there.
    """
    shell = _shell(words)
    try:
        path = app.install_completion(shell=shell)
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError of a user without a home
        why = getattr(error, "strerror", None) or error
        raise InputError(f"completion for {shell} cannot be written: {why}", code="cannot-write") from None
    return f"wrote {path}: completion works in the next {shell} session\n"


def _shell(words: Sequence[str]) -> Shell:
    from cyclopts.completion.detect import ShellDetectionError, detect_shell

    if len(words) > 1:
        raise InputError(f"not understood: {' '.join(words[1:])}", code="too-many-arguments", hint=HINT)
    if words:
        named = next((shell for shell in SHELLS if shell == words[0].lower()), None)
        if named is None:
            raise InputError(
                f'shell is "{words[0]}"', code="bad-value", context=[f"known: {', '.join(SHELLS)}"], hint=HINT
            )
        return named
    try:
        return detect_shell()
    except ShellDetectionError:
        raise InputError("podsim cannot see which shell this is", code="missing-argument", hint=HINT) from None
