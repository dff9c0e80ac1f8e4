"""Tests of Grid."""
