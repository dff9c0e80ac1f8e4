"""The package's own tests run once it is installed, in `test_third_party`."""

collect_ignore = ["grid-center-of-mass"]
