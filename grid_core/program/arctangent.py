"""Constants of the two-argument arctangent that compiled backends share.

atan t = t + t z P(z) with z = t² on |t| ≤ 1/2. A ratio a/b in [1/2, 1] comes there by
atan(a/b) = π/4 + atan((a - b)/(a + b)), where a - b is exact. P interpolates at Chebyshev nodes;
what that leaves is 4e-18 (float64) and 9e-10 (float32) of t.
"""

from __future__ import annotations

__all__ = ["ARCTANGENT", "EDGE", "MULTIPLES_OF_PI"]

EDGE = 0.5
"""Largest ratio that goes into the polynomial as it is."""

ARCTANGENT = {
    "float64": (
        -0.3333333333333333,
        0.19999999999999488,
        -0.14285714285599188,
        0.11111111100917376,
        -0.09090908620322523,
        0.07692294712540285,
        -0.06666435677235948,
        0.05879578429582425,
        -0.05240099507994713,
        0.04628024868570153,
        -0.03806653672057366,
        0.025006503566489507,
        -0.009215792047089858,
    ),
    "float32": (
        -0.33333332901484686,
        0.1999987524978264,
        -0.14279801095810957,
        0.11006880681346318,
        -0.08235505763636282,
        0.04225685963021552,
    ),
}
"""P(z) = c0 + z (c1 + ...)."""

MULTIPLES_OF_PI = {
    "float64": {
        0: (0.0, 0.0),
        1: (float.fromhex("0x1.921fb54442d18p-1"), float.fromhex("0x1.1a62633145c07p-55")),
        2: (float.fromhex("0x1.921fb54442d18p+0"), float.fromhex("0x1.1a62633145c07p-54")),
        3: (float.fromhex("0x1.2d97c7f3321d2p+1"), float.fromhex("0x1.a79394c9e8a0ap-54")),
        4: (float.fromhex("0x1.921fb54442d18p+1"), float.fromhex("0x1.1a62633145c07p-53")),
    },
    "float32": {
        0: (0.0, 0.0),
        1: (float.fromhex("0x1.921fb6p-1"), float.fromhex("-0x1.777a5cp-26")),
        2: (float.fromhex("0x1.921fb6p+0"), float.fromhex("-0x1.777a5cp-25")),
        3: (float.fromhex("0x1.2d97c8p+1"), float.fromhex("-0x1.99bc5cp-28")),
        4: (float.fromhex("0x1.921fb6p+1"), float.fromhex("-0x1.777a5cp-24")),
    },
}
"""k·π/4 as a sum of two numbers of the precision."""
