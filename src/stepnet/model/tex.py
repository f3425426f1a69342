"""Text in LaTeX: characters that mean something there, and signs that its fonts have in formulas only."""

from __future__ import annotations

_MARKUP = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", "°": r"\textdegree{}",
}  # fmt: skip
_SIGNS = {
    "·": r"\cdot", "≥": r"\ge", "≤": r"\le", "≠": r"\ne", "≈": r"\approx", "±": r"\pm", "×": r"\times", "÷": r"\div",
    "→": r"\to", "←": r"\leftarrow", "∞": r"\infty", "∑": r"\sum", "√": r"\surd", "−": "-", "µ": r"\mu",
}  # fmt: skip
_SMALL = [
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu", "xi",
    "omicron", "pi", "rho", "varsigma", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega",
]  # fmt: skip
_GREEK = {chr(ord("α") + i): rf"\{name}" for i, name in enumerate(_SMALL) if name != "omicron"}
_GREEK |= {letter: rf"\{_SMALL[ord(letter) - ord('Α')].capitalize()}" for letter in "ΓΔΘΛΞΠΣΥΦΨΩ"}
_AS_LATIN = dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΧο", "ABEZHIKMNOPTXo", strict=True))
_RAISED = {sign: rf"\textsuperscript{{{digit}}}" for digit, sign in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}
_TABLE = str.maketrans(
    _MARKUP | {sign: rf"\({name}\)" for sign, name in (_SIGNS | _GREEK).items()} | _AS_LATIN | _RAISED
)
_LAST_LATIN = "\u017f"  # of the accented letters
_PUNCTUATION = "‐‑–—‘’‚“”„†‡•…‰‹›€"


def tex(text: str) -> str:
    """A text that LaTeX prints as it stands."""
    return " ".join(text.split()).replace(" -> ", " → ").replace(" - ", " − ").translate(_TABLE)


def beyond_latex(text: str) -> str:
    """The characters that pdfLaTeX has no fonts for."""
    return "".join(sorted({one for one in text if one > _LAST_LATIN and one not in _PUNCTUATION}))
