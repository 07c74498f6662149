"""Pictures of results, as PNG: labelled, in the features' own units, readable in grey."""

from bcdp.present.pictures.canvas import save
from bcdp.present.pictures.estimates import Truth, estimate_figure, sections_figure
from bcdp.present.pictures.experiment import draw_experiment
from bcdp.present.pictures.gain import gain_figure
from bcdp.present.pictures.leak import draw_leak
from bcdp.present.pictures.leakage import draw_pairs, leakage_figure
from bcdp.present.pictures.simulation import draw_simulation
from bcdp.present.pictures.tradeoff import draw_trade_off
from bcdp.present.pictures.trust import draw_trust
from bcdp.present.pictures.waves import trend_figure

__all__ = [
    "Truth",
    "draw_experiment",
    "draw_leak",
    "draw_pairs",
    "draw_simulation",
    "draw_trade_off",
    "draw_trust",
    "estimate_figure",
    "gain_figure",
    "leakage_figure",
    "save",
    "sections_figure",
    "trend_figure",
]
