"""Tests of the colours of series: whoever sees colours otherwise tells any two of them apart, in both themes of a page."""

import re
import warnings
from importlib import resources
from itertools import combinations

import numpy
import pytest

from slownet.report.chart import COLOURS

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it warns of what it could do with matplotlib
    import colour

APART = 20.0
"""CIEDE2000 between any two series; about 2 is a difference that is just seen."""
CONTRAST = 3.0
"""Of graphics with the page (WCAG 2.2, 1.4.11)."""
SIGHTS = ("", "Protanomaly", "Deuteranomaly", "Tritanomaly")
STYLE = resources.files("slownet.report").joinpath("page.css").read_text("utf-8")
THEMES = dict(zip(("light", "dark"), re.findall(r"--paper: (#\w+).*?--measured", STYLE, re.DOTALL), strict=True))


def colours(theme):
    """Return the colours of the series in one theme, by name."""
    block = STYLE.split("prefers-color-scheme")[theme == "dark"]
    return {name: re.search(rf"--{name}: (#\w+);", block).group(1) for name in COLOURS}


def linear(text):
    return colour.models.eotf_sRGB(numpy.array([int(text[at : at + 2], 16) / 255 for at in (1, 3, 5)]))


def seen(text, sight):
    """Return a colour in CIE Lab as somebody sees it who lacks one kind of cones (Machado and others, 2009)."""
    rgb = linear(text)
    if sight:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the model's tritanopia is an approximation
            rgb = numpy.clip(colour.blindness.matrix_cvd_Machado2009(sight, 1.0) @ rgb, 0, 1)
    white = colour.CCS_ILLUMINANTS["CIE 1931 2 Degree Standard Observer"]["D65"]
    return colour.XYZ_to_Lab(colour.RGB_to_XYZ(rgb, "sRGB"), white)


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("theme", THEMES)
def test_any_two_series_are_told_apart(theme, sight):
    labs = {name: seen(text, sight) for name, text in colours(theme).items()}
    apart = {(one, two): float(colour.delta_E(labs[one], labs[two], method="CIE 2000")) for one, two in combinations(labs, 2)}
    assert min(apart.values()) > APART, apart


@pytest.mark.parametrize("theme", THEMES)
def test_each_series_stands_out_from_the_page(theme):
    def luminance(text):
        return float(numpy.dot(linear(text), [0.2126, 0.7152, 0.0722]))

    for name, text in colours(theme).items():
        dark, light = sorted((luminance(text), luminance(THEMES[theme])))
        assert (light + 0.05) / (dark + 0.05) > CONTRAST, name
