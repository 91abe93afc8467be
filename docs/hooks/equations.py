"""The equations of the model as MathML, which browsers show without a script, a font or a network.

`docs/explanation/model.md` writes them as indented lines, with columns two or more spaces apart: what a line is about,
the formula, a remark. A column with an operator of arithmetic in it is a formula. Its words are names;
`a / b` of two operands becomes a fraction, `a^b` an exponent. latex2mathml makes MathML of the LaTeX written here.
"""

from __future__ import annotations

import re
from html import escape
from typing import Final

from latex2mathml.converter import convert

BLOCK: Final = re.compile(r"(?:^    \S.*\n)(?:^(?:    .*)?\n)*?(?=^\S)", re.MULTILINE)
COLUMN: Final = re.compile(r"\s{2,}")
ARITHMETIC: Final = re.compile(r" [×/+−∓^] |[ΣΠ√∫⌈^²]|\w\(|\) ")
TOKEN: Final = re.compile(
    r"(?P<number>\d+(?:,\d{3})*(?:\.\d+)?(?:\s(?:[nµm]?s|s/GB|GB/s|B|h|cycles)\b)?)"
    r"|(?P<word>`[^`]*`|Eq\.|[A-Za-zµ](?:[A-Za-z0-9_.'-]*[A-Za-z0-9_'])?(?:/[a-z]+)?)"
    r"|(?P<power>[²³⁶⁸⁹ᵀ])"
    r"|(?P<operator>\S)"
)
LATEX: Final = {
    "≈": r"\approx ",
    "≤": r"\le ",
    "≥": r"\ge ",
    "<": r"\lt ",
    ">": r"\gt ",
    "×": r"\times ",
    "−": "-",
    "∓": r"\mp ",
    "±": r"\pm ",
    "→": r"\rightarrow ",
    "Σ": r"\sum ",
    "Π": r"\prod ",
    "√": r"\surd ",
    "∫": r"\int ",
    "⌈": r"\lceil ",
    "⌉": r"\rceil ",
    "{": r"\{ ",
    "}": r"\} ",
    "%": r"\% ",
}
OPEN: Final = {"(": ")", "[": "]"}
POWERS: Final = {"²": "2", "³": "3", "⁶": "6", "⁸": "8", "⁹": "9", "ᵀ": "T"}
Token = tuple[str, str]


def typeset(markdown: str) -> str:
    """The page with its indented lines, which are equations all, as tables of MathML."""
    return BLOCK.sub(lambda match: _block(match[0]), markdown)


def _block(text: str) -> str:
    """Lines that all begin with a name as a table, others one after the other."""
    lines = [_joined(COLUMN.split(line.strip())) for line in text.splitlines() if line.strip()]
    if all(len(line) > 1 and not ARITHMETIC.search(line[0]) for line in lines):
        rows = (f"<tr>{''.join(f'<td>{_column(column)}</td>' for column in line)}</tr>" for line in lines)
        return f'<div class="equation"><table class="plain">{"".join(rows)}</table></div>\n\n'
    rows = (f"<div>{''.join(_span(line, at) for at in range(len(line)))}</div>" for line in lines)
    return f'<div class="equation">{"".join(rows)}</div>\n\n'


def _span(line: list[str], at: int) -> str:
    """A column of a line; words after a formula are a remark."""
    formulas = [bool(ARITHMETIC.search(column)) for column in line]
    remark = ' class="remark"' if any(formulas[:at]) and not formulas[at] else ""
    return f"<span{remark}>{_column(line[at])}</span>"


def _joined(columns: list[str]) -> list[str]:
    """Columns with a name and its `= …`, aligned in the text by spaces, put together again."""
    result: list[str] = []
    for column in columns:
        if result and re.match(r"[=≈→] ", column):
            result[-1] += f" {column}"
        else:
            result.append(column)
    return result


def _column(text: str) -> str:
    """A formula as MathML, a remark as text."""
    return convert(latex(text)) if ARITHMETIC.search(text) else escape(text).replace("`", "")


def latex(text: str) -> str:
    """A formula in LaTeX."""
    tokens = [(match.lastgroup or "", match[0]) for match in TOKEN.finditer(text) if match[0].strip()]
    return _sequence(_words(tokens))


def _words(tokens: list[Token]) -> list[Token]:
    """Words that follow each other as one name; a capital letter is a variable of its own."""
    result: list[Token] = []
    for kind, text in tokens:
        before = result[-1] if result else ("", "")
        if kind == before[0] == "word" and not (_variable(text) or _variable(before[1])):
            result[-1] = ("word", f"{before[1]} {text}")
        else:
            result.append((kind, text))
    return result


def _variable(text: str) -> bool:
    return len(text) == 1 and text.isupper()


def _sequence(tokens: list[Token]) -> str:
    """Operands and operators in a row; `a / b / c` is one fraction with both divisors below."""
    out: list[str] = []
    at, over = 0, ("", "")
    while at < len(tokens):
        if tokens[at][1] == "/" and out and at + 1 < len(tokens):
            right, at = _operand(tokens, at + 1)
            above, below = over if over[0] else (_bare(out[-1]), "")
            over = (above, rf"{below} \times {right}" if below else right)
            out[-1] = rf"\frac{{{above}}}{{{_bare(over[1])}}}"
        else:
            operand, at = _operand(tokens, at)
            out.append(operand)
            over = ("", "")
    return _spaced(out)


def _spaced(parts: list[str]) -> str:
    """Parts with a space where two names or numbers meet, and after a colon or a comma."""
    result = ""
    for part in parts:
        begins = part[:1].isalnum() or part.startswith(("\\text", "\\frac", "{{", "{\\"))
        meets = result.endswith(("}", ":")) or result[-1:].isalnum()
        result += (r"\ " if meets and begins else " ") + part
    return result.strip()


def _bare(text: str) -> str:
    """An operand of a fraction without the parentheses that the fraction makes needless."""
    return text.removeprefix(r"\left(").removesuffix(r"\right)") if _wrapped(text) else text


def _wrapped(latex_text: str) -> bool:
    """Whether one pair of parentheses is around all of it."""
    if not (latex_text.startswith(r"\left(") and latex_text.endswith(r"\right)")):
        return False
    depth = 0
    for match in re.finditer(r"\\left[(\[]|\\right[)\]]", latex_text):
        depth += 1 if match[0].startswith(r"\left") else -1
        if depth == 0 and match.end() < len(latex_text):
            return False
    return True


def _operand(tokens: list[Token], at: int) -> tuple[str, int]:
    """One operand with its exponents, and where the next token is."""
    result, at = _atom(tokens, at)
    while at < len(tokens) and (tokens[at][0] == "power" or (tokens[at][1] == "^" and at + 1 < len(tokens))):
        if tokens[at][0] == "power":
            exponent, at = POWERS[tokens[at][1]], at + 1
        else:
            exponent, at = _atom(tokens, at + 1)
            exponent = _bare(exponent)
        result = f"{{{result}}}^{{{exponent}}}"
    return result, at


def _atom(tokens: list[Token], at: int) -> tuple[str, int]:
    """A name with its arguments, a group, a number or an operator, and where the next token is."""
    kind, text = tokens[at]
    at += 1
    if text in OPEN:
        inside, at = _group(tokens, at, OPEN[text])
        return rf"\left{text}{inside}\right{OPEN[text]}", at
    if kind == "number" and " " in text:
        number, unit = text.split(" ")
        return rf"{number.replace(',', '{,}')}\ \text{{{unit}}}", at
    result = _name(text) if kind == "word" else LATEX.get(text, text.replace(",", "{,}"))
    if kind == "word" and at < len(tokens) and tokens[at][1] == "(":
        inside, at = _group(tokens, at + 1, ")")
        result = rf"{result}\left({inside}\right)"
    return result, at


def _group(tokens: list[Token], at: int, closing: str) -> tuple[str, int]:
    """What stands up to the parenthesis that closes, and where the next token is."""
    opening = next(text for text, end in OPEN.items() if end == closing)
    depth, start = 1, at
    while at < len(tokens):
        depth += (tokens[at][1] == opening) - (tokens[at][1] == closing)
        if depth == 0:
            return _sequence(tokens[start:at]), at + 1
        at += 1
    return _sequence(tokens[start:]), at


def _name(text: str) -> str:
    return text if len(text) == 1 else rf"\text{{{text.replace('`', '')}}}"
