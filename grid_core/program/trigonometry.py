"""Constants of the sine and cosine that compiled backends share.

x = k·π/2 + r with π/2 in three parts: under FMA the product with the first is exact and so is
its difference from x, because both are multiples of one small power of two and r is below 1.
What is left errs by less than an ulp of r. The polynomials on [-π/4, π/4] are fdlibm's
(float64) and Cephes' (float32).
"""

from __future__ import annotations

__all__ = ["COSINE", "COSINE_FROM_ONE", "FAR_LIMIT", "MAGIC", "PI_HALF", "SINE", "TWO_OVER_PI"]

TWO_OVER_PI = 0.6366197723675814

PI_HALF = {
    "float64": (
        float.fromhex("0x1.921fb54442d18p+0"),
        float.fromhex("0x1.1a62633145c07p-54"),
        float.fromhex("-0x1.f1976b7ed8fbcp-110"),
    ),
    "float32": (
        float.fromhex("0x1.921fb6p+0"),
        float.fromhex("-0x1.777a5cp-25"),
        float.fromhex("-0x1.ee59dap-50"),
    ),
}
"""π/2 as a sum of three numbers of the precision."""

MAGIC = {"float64": 6755399441055744.0, "float32": 12582912.0}
"""1.5 · 2^digits: adding it leaves round(x) in the lowest bits."""

FAR_LIMIT = {"float32": 3.0e6, "float64": 1.0e14}
"""Largest |x| [rad] that this reduction is for."""

SINE = {
    "float64": (
        -1.66666666666666324348e-01,
        8.33333333332248946124e-03,
        -1.98412698298579493134e-04,
        2.75573137070700676789e-06,
        -2.50507602534068634195e-08,
        1.58969099521155010221e-10,
    ),
    "float32": (-1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4),
}
"""sin r = r + r z (S0 + z (S1 + ...)), z = r²."""

COSINE = {
    "float64": (
        4.16666666666666019037e-02,
        -1.38888888888741095749e-03,
        2.48015872894767294178e-05,
        -2.75573143513906633035e-07,
        2.08757232129817482790e-09,
        -1.13596475577881948265e-11,
    ),
    "float32": (4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5),
}
"""cos r = 1 - z/2 + z² (C0 + z (C1 + ...)), z = r²."""

COSINE_FROM_ONE = {
    "float64": (
        -0.49999999999999356,
        0.041666666666472986,
        -0.0013888888869388017,
        2.480157822684041e-05,
        -2.755517549351978e-07,
        2.062671472216798e-09,
    ),
    "float32": (-0.5, *COSINE["float32"]),
}
"""cos r = 1 + z (C0 + z (C1 + ...)), z = r². In float64 the best of that length for |r| ≤ 0.7916.

One coefficient fewer than above: it leaves 6.8e-17 of cos r, still within 2 units in the last
place. Near `FAR_LIMIT` the nearest multiple of π/2 is found but nearly, so |r| may pass π/4 so far.
"""
