"""What the compiler is asked for, and what it must leave alone."""

from __future__ import annotations

from grid_backend_cuda.compiler import compile_cubin, compile_ptx

SOURCE = 'extern "C" __global__ void k(float* x) { x[0] = 1.0f; }'


def test_an_empty_log_is_not_written_over_pythons_own_bytes() -> None:
    """A log of one byte was read into the shared object of that one character."""
    compile_ptx(SOURCE, "k", "sm_90")
    assert b"a b".split(b" ") == [b"a", b"b"]
    assert [bytes((n,))[0] for n in range(256)] == list(range(256))


def test_the_report_is_there_each_time() -> None:
    """NVRTC keeps programs of its own accord, and says nothing of one that it kept."""
    reports = {compile_cubin(SOURCE, "k", "sm_90")[1] for _ in range(3)}
    assert len(reports) == 1
    assert reports.pop().registers > 0
