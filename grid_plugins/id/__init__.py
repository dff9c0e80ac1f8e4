"""Inverse dynamics and the mass matrix."""
