"""End-effector poses and their derivatives, frame Jacobians and placements."""
