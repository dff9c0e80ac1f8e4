"""Programs through LLVM (llvmlite), vectorised across the batch."""
