"""The center of mass and its Jacobian, as operations of a Grid robot."""
