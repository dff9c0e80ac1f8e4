"""Property tests here run on fixed examples."""

from tests.support import hypothesis_profiles

__all__ = ["hypothesis_profiles"]
