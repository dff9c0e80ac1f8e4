"""Programs through NVRTC on NVIDIA GPUs: one problem a thread, rows staged by warp."""
