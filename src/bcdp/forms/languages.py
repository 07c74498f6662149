"""The codes of languages that forms write as names."""

from __future__ import annotations

import re

_CODES = {
    "amharic": "am", "arabic": "ar", "bengali": "bn", "chinese": "zh", "czech": "cs", "danish": "da", "dutch": "nl",
    "english": "en", "finnish": "fi", "french": "fr", "français": "fr", "german": "de", "deutsch": "de", "greek": "el",
    "hausa": "ha", "hindi": "hi", "hungarian": "hu", "indonesian": "id", "italian": "it", "japanese": "ja",
    "khmer": "km", "kinyarwanda": "rw", "korean": "ko", "nepali": "ne", "norwegian": "no", "persian": "fa",
    "polish": "pl", "portuguese": "pt", "romanian": "ro", "russian": "ru", "somali": "so", "spanish": "es",
    "español": "es", "swahili": "sw", "swedish": "sv", "thai": "th", "turkish": "tr", "ukrainian": "uk", "urdu": "ur",
    "vietnamese": "vi",
}  # fmt: skip
_CODE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")


def language_code(name: str) -> str | None:
    """The code in `French (fr)`, of a known name, or the text itself if it is one; None for others.

    >>> [language_code(name) for name in ("French (fr)", "English", "pt-BR", "Klingon")]
    ['fr', 'en', 'pt-BR', None]
    """
    name = name.strip()
    in_brackets = re.search(r"\(([^)]+)\)\s*$", name)
    code = in_brackets[1].strip() if in_brackets else _CODES.get(name.lower(), name)
    return code if _CODE.fullmatch(code) else None
