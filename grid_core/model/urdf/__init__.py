"""URDF reader: bytes → text → XML nodes → element records → tree → `RobotModel`.

One file a step: `decode`, `scan`, `xml`, `read_robot` (with `read_link` and `read_joint`),
`topology`, `assemble` (with `motion`, `mimic`, `inertia` and `checks`).
"""
