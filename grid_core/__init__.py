"""Batched robot dynamics and kinematics, compiled for one robot from its URDF.

>>> import grid_core
>>> robot = grid_core.load_robot("iiwa14.urdf")
>>> tau = robot.inverse_dynamics(q, qd, qdd)
"""

from grid_core.descriptor.describing import describe_model
from grid_core.handle import RobotHandle
from grid_core.loading import AlgorithmInfo, list_algorithms, load_robot
from grid_core.registry import get_robot, list_registered, register_robot

__all__ = [
    "AlgorithmInfo",
    "RobotHandle",
    "describe_model",
    "get_robot",
    "list_algorithms",
    "list_registered",
    "load_robot",
    "register_robot",
]
