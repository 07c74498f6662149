"""Letters that the usual font lacks: drawn with another font if there is one, else told in one note."""

from __future__ import annotations

import io
import warnings

import pytest
from matplotlib import font_manager, get_data_path
from matplotlib.figure import Figure

from bcdp.present.pictures import save

SERIF = f"{get_data_path()}/fonts/ttf/DejaVuSerif.ttf"
RARE = "\N{LATIN LETTER VOICED LARYNGEAL SPIRANT}"  # in this font, and not in the usual one


def drawn(text: str) -> tuple[Figure, bytes]:
    figure, target = Figure(), io.BytesIO()
    figure.text(0.1, 0.5, text)
    save(figure, target, dpi=50)
    return figure, target.getvalue()


def test_another_font_of_the_machine_has_the_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: ["nowhere.ttf", SERIF])
    figure, picture = drawn(f"a {RARE}")
    assert figure.texts[0].get_fontfamily() == ["sans-serif", "DejaVu Serif"]
    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: [])
    with pytest.warns(UserWarning, match="no font of this machine"):
        assert drawn(f"a {RARE}")[1] != picture  # a box


def test_letters_that_no_font_has_are_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: [SERIF])
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        drawn("吸烟吗")
    assert [str(one.message).partition(",")[0] for one in heard] == ["no font of this machine has the letters 吗吸烟"]


@pytest.mark.parametrize("text", ["plain", "élan, Ωμέγα, العمر, צפון"])
def test_letters_of_the_usual_font_look_for_no_other(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: pytest.fail("no other font is needed"))
    assert drawn(text)[0].texts[0].get_fontfamily() == ["sans-serif"]
