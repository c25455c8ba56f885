#!/usr/bin/env python3
# Copyright the retain authors. Licence: MIT.
"""Harmonic prediction of tides.

Harmonic prediction is a method that adds up one cosine for each tidal constituent to give the height of the water.
"""

from math import cos


def height(mean: float, constituents: list[tuple[float, float, float]], hours: float) -> float:
    """The height of the water, in metres.

    A tidal constituent is one regular part of the tide that has its own period. Harmonic prediction works because each
    constituent keeps its period for ever.
    """
    # The phase lag is the delay between the pull of the Moon and the high water that follows it.
    return mean + sum(amplitude * cos(speed * hours - lag) for amplitude, speed, lag in constituents)
