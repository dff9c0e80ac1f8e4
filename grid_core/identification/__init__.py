"""Identification: a robot's inertias and friction, from measured motion and torques.

>>> robot = grid_core.load_robot("arm.urdf", dtype="float64", regressor_terms=["viscous"])
>>> result = identify(robot, q, qd, qdd, tau)
"""

from grid_core.identification.base_parameters import (
    BaseParameters,
    Identifiability,
    base_parameters,
)
from grid_core.identification.excitation import Excitation, excite
from grid_core.identification.identify import identify, identify_stream
from grid_core.identification.logs import Log, open_log
from grid_core.identification.logs_summary import FileSummary, LogSummary
from grid_core.identification.pseudo_inertia import (
    from_log_cholesky,
    from_pseudo_inertia,
    is_consistent,
    log_cholesky,
    log_cholesky_jacobian,
    pseudo_inertia,
)
from grid_core.identification.result import IdentificationResult
from grid_core.identification.samples import Samples
from grid_core.identification.urdf_writer import WrittenUrdf, write_urdf
from grid_core.identification.validation import Validation

__all__ = [
    "BaseParameters",
    "Excitation",
    "FileSummary",
    "Identifiability",
    "IdentificationResult",
    "Log",
    "LogSummary",
    "Samples",
    "Validation",
    "WrittenUrdf",
    "base_parameters",
    "excite",
    "from_log_cholesky",
    "from_pseudo_inertia",
    "identify",
    "identify_stream",
    "is_consistent",
    "log_cholesky",
    "log_cholesky_jacobian",
    "open_log",
    "pseudo_inertia",
    "write_urdf",
]
