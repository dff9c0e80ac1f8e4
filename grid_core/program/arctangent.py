"""Constants of the two-argument arctangent that compiled backends share.

atan t = t + t z P(z) with z = t² on |t| ≤ 1/3. A ratio a/b between that and 1 comes there by
atan(a/b) = atan(1/2) + atan((a - b/2)/(b + a/2)), where a - b/2 is exact. P is the best
approximation of its length; what it leaves is 1.7e-17 (float64) and 3e-9 (float32) of atan t.
"""

from __future__ import annotations

__all__ = ["ARCTANGENT", "ARCTANGENT_OF_HALF", "EDGE", "HALF_PI"]

EDGE = 1.0 / 3.0
"""Largest ratio that goes into the polynomial as it is."""

ARCTANGENT_OF_HALF = 0.4636476090008061

ARCTANGENT = {
    "float64": (
        -0.3333333333333143,
        0.19999999999307355,
        -0.14285714198852376,
        0.11111105759194406,
        -0.09090721932224785,
        0.07688333203105405,
        -0.06614164171757413,
        0.054561982582024986,
        -0.03257520663354424,
    ),
    "float32": (
        -0.3333325684070587,
        0.19993221759796143,
        -0.14096684753894806,
        0.08981496840715408,
    ),
}
"""P(z) = c0 + z (c1 + ...)."""

HALF_PI = {
    "float64": (float.fromhex("0x1.921fb54442d18p+0"), float.fromhex("0x1.1a62633145c07p-54")),
    "float32": (float.fromhex("0x1.921fb6p+0"), float.fromhex("-0x1.777a5cp-25")),
}
"""π/2 as a sum of two numbers of the precision."""
