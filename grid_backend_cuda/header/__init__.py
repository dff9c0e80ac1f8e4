"""``grid.cuh``: a robot's constants, tables and operations as one C++ header."""
