"""Roll, pitch and yaw of a rotation, and their first and second derivatives.

R = Rz(yaw) Ry(pitch) Rx(roll). Everything comes from entries of R, so no angle's sine is taken.
In axes turned by the yaw an angular velocity is (u, w, z), and

    roll' = u / cos(pitch),  pitch' = w,  yaw' = z + sin(pitch) roll'.

At pitch = ±π/2 only a sum of roll and yaw is defined: yaw is then 0 and roll takes all of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from grid_core.program.scalar import atan2, maximum, sqrt

if TYPE_CHECKING:
    from grid_core.program.linalg import Vec3
    from grid_core.program.scalar import Value

__all__ = ["AngleRates", "RollPitchYaw"]

_NOTHING = 1e-17
"""Far below an entry's rounding error, and its square still is a float32."""


@frozen(eq=False)
class AngleRates:
    """What a unit rate of one coordinate does to the angles, with what its products need."""

    roll: Value
    pitch: Value
    """Also the angular velocity about the axis of pitch, w."""
    yaw: Value
    u: Value
    w_over_cos: Value
    w_times_tan: Value

    def then(self, later: AngleRates) -> tuple[Value, Value, Value]:
        """Second derivatives along two coordinates, this one's joint nearer to the root."""
        return (
            self.roll * later.w_times_tan + self.w_over_cos * later.yaw,
            -(self.u * later.yaw),
            self.roll * later.w_over_cos + self.w_times_tan * later.yaw,
        )


class RollPitchYaw:
    """The chart at one rotation.

    Args:
        rows: R.
    """

    def __init__(self, rows: tuple[Vec3, Vec3, Vec3]) -> None:
        self.rows = rows
        # A yaw of 0 where both are 0; nowhere else does it change a bit that means anything.
        self._x, self._y = rows[0].x + _NOTHING, rows[1].x
        square = maximum(self._x * self._x + self._y * self._y, _NOTHING * _NOTHING)
        self.cos = sqrt(square)
        """Cosine of the pitch, positive."""
        self.over_cos = 1.0 / self.cos
        self.sin = -rows[2].x
        """Sine of the pitch."""
        self.cos_yaw = self._x * self.over_cos
        self.sin_yaw = self._y * self.over_cos

    def angles(self) -> list[Value]:
        """Roll, pitch and yaw [rad]; their rotation is R even at the singularity."""
        r0, r1, _ = self.rows
        # cos(pitch) times both: an angle needs no more, and so no division.
        sine = self._y * r0.z - self._x * r1.z
        cosine = self._x * r1.y - self._y * r0.y
        return [atan2(sine, cosine), atan2(self.sin, self.cos), atan2(self._y, self._x)]

    def rates(self, angular: Vec3) -> AngleRates:
        """What an angular velocity in the world's axes does to the angles."""
        u = self.cos_yaw * angular.x + self.sin_yaw * angular.y
        w = self.cos_yaw * angular.y - self.sin_yaw * angular.x
        roll = u * self.over_cos
        return AngleRates(
            roll=roll,
            pitch=w,
            yaw=angular.z + self.sin * roll,
            u=u,
            w_over_cos=w * self.over_cos,
            w_times_tan=w * (self.sin * self.over_cos),
        )
