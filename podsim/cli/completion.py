"""Shell completion: a script for bash, zsh, fish or PowerShell, where the shell looks for it.

Each script asks `podsim --complete WORD...`, whose last word is the one to complete, and offers files where it has no
answer.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, get_args

from podsim.errors import InputError

Shell = Literal["bash", "zsh", "fish", "powershell"]
SHELLS: Final[tuple[Shell, ...]] = get_args(Shell)
HINT: Final = "podsim --install-completion bash"
SCRIPTS: Final[Mapping[Shell, str]] = {
    "bash": r"""# Completion of podsim for bash.
_podsim() {
  local IFS=$'\n' line=${COMP_LINE:0:COMP_POINT}
  local -a words
  IFS=$' \t' read -ra words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  local begun=${words[-1]}
  COMPREPLY=($(podsim --complete "${words[@]:1}" 2>/dev/null))
  # bash takes the text up to the last = for words of their own
  [[ $begun == *=* && $COMP_WORDBREAKS == *=* ]] && COMPREPLY=("${COMPREPLY[@]#*=}")
}
complete -o bashdefault -o default -F _podsim podsim
""",
    "zsh": r"""#compdef podsim
# Completion of podsim for zsh.
_podsim() {
  local -a names
  names=(${(f)"$(podsim --complete "${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( $#names )); then compadd -- $names; else _files; fi
}
if [[ $funcstack[1] == _* ]]; then _podsim "$@"; else compdef _podsim podsim; fi
""",
    "fish": r"""# Completion of podsim for fish.
function __podsim_complete
    set -l names (podsim --complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)
    if test (count $names) -gt 0
        printf '%s\n' $names
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c podsim -f -a '(__podsim_complete)'
""",
    "powershell": r"""# Completion of podsim for PowerShell.
Register-ArgumentCompleter -Native -CommandName podsim -ScriptBlock {
    param($word, $command, $place)
    $before = @($command.CommandElements | Where-Object { $_.Extent.EndOffset -lt $place } | Select-Object -Skip 1)
    podsim --complete @($before | ForEach-Object { "$_" }) "$word" | ForEach-Object {
        [System.Management.Automation.CompletionResult]::new($_)
    }
}
""",
}


def install(words: Sequence[str]) -> str:
    """Write the script of the shell named, or of the one that runs; what to say of it.

    Raises InputError: no such shell, none to be seen, or nothing can be written there.
    """
    shell = _shell(words)
    try:
        path = _install(shell)
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError of a user without a home
        why = getattr(error, "strerror", None) or error
        raise InputError(f"completion for {shell} cannot be written: {why}", code="cannot-write") from None
    return f"wrote {path}: completion works in the next {shell} session\n"


def _install(shell: Shell) -> Path:
    """The script, written where cyclopts knows that the shell looks, and named in its startup file if need be."""
    from cyclopts.completion.install import add_to_rc_file, get_default_completion_path

    path = get_default_completion_path(shell, "podsim")
    path.write_text(SCRIPTS[shell], encoding="utf-8")
    if shell != "fish":  # which looks through its folder by itself
        add_to_rc_file(path, "podsim", shell)
    return path


def _shell(words: Sequence[str]) -> Shell:
    from cyclopts.completion.detect import ShellDetectionError, detect_shell

    if len(words) > 1:
        raise InputError(f"not understood: {' '.join(words[1:])}", code="too-many-arguments", hint=HINT)
    if words:
        requested_shell = next((shell for shell in SHELLS if shell == words[0].lower()), None)
        if requested_shell is None:
            raise InputError(
                f'shell is "{words[0]}"', code="bad-value", context=[f"known: {', '.join(SHELLS)}"], hint=HINT
            )
        return requested_shell
    try:
        return detect_shell()
    except ShellDetectionError:
        raise InputError("podsim cannot see which shell this is", code="missing-argument", hint=HINT) from None
