// CUDA's runtime on the host, as far as grid.cuh uses it: a block's threads are threads, shared
// memory is static, device memory is of the heap, and every copy is checked against it.
#pragma once

#define FAKE_CUDA

#include <pthread.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#define __host__
#define __device__
#define __global__
#define __forceinline__ inline
#define __noinline__
#define __shared__ static
#define __launch_bounds__(threads)

typedef int cudaError_t;
typedef void* cudaStream_t;
enum { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2, cudaErrorLaunchFailure = 719 };
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };

namespace fake {

struct index { int x = 0; };
inline thread_local index thread_index;
inline index block_index, block_size, grid_size;
inline pthread_barrier_t barrier;
inline std::map<const char*, std::size_t> device, host;
inline std::vector<std::string> calls;
inline std::string failing;  // the call that fails, once
inline int pending = cudaSuccess;

// Notes a call; says whether it is to fail.
inline bool fails(const std::string& name)
{
    calls.push_back(name);
    if (failing != name) return false;
    failing.clear();
    return true;
}

// Whether bytes lie in what was allocated. Host memory that was not may be anything of the caller's.
inline bool within(const std::map<const char*, std::size_t>& memory, const void* start, std::size_t bytes)
{
    const char* const first = static_cast<const char*>(start);
    auto found = memory.upper_bound(first);
    if (found == memory.begin()) return &memory == &host;
    --found;
    const char* const end = found->first + found->second;
    return first >= end ? &memory == &host : first + bytes <= end;
}

template <typename Kernel>
auto launch(Kernel* kernel, int blocks, int threads)
{
    return [=](auto... arguments) {
        if (fails("launch")) {
            pending = cudaErrorLaunchFailure;
            return;
        }
        grid_size.x = blocks;
        block_size.x = threads;
        pthread_barrier_init(&barrier, nullptr, threads);
        for (block_index.x = 0; block_index.x < blocks; ++block_index.x) {
            std::vector<std::thread> all;
            for (int k = 0; k < threads; ++k)
                all.emplace_back([=] {
                    thread_index.x = k;
                    kernel(arguments...);
                });
            for (std::thread& one : all) one.join();
        }
        pthread_barrier_destroy(&barrier);
    };
}

inline cudaError_t allocate(std::map<const char*, std::size_t>& memory, const char* name, void** to, std::size_t bytes)
{
    if (fails(name)) return cudaErrorMemoryAllocation;
    *to = std::malloc(bytes);
    std::memset(*to, 0xff, bytes);  // NaN, for who reads what nobody wrote
    memory[static_cast<char*>(*to)] = bytes;
    return cudaSuccess;
}

inline cudaError_t release(std::map<const char*, std::size_t>& memory, const char* name, void* from)
{
    if (fails(name)) return cudaErrorInvalidValue;
    if (from == nullptr) return cudaSuccess;
    if (!memory.erase(static_cast<char*>(from))) return cudaErrorInvalidValue;
    std::free(from);
    return cudaSuccess;
}

}  // namespace fake

#define threadIdx fake::thread_index
#define blockIdx fake::block_index
#define blockDim fake::block_size
#define gridDim fake::grid_size
#define GRID_LAUNCH(kernel, blocks, threads, stream) (void)(stream), fake::launch(kernel, blocks, threads)

inline void __syncwarp() { pthread_barrier_wait(&fake::barrier); }
inline cudaError_t cudaMalloc(void** to, std::size_t bytes) { return fake::allocate(fake::device, "cudaMalloc", to, bytes); }
inline cudaError_t cudaMallocHost(void** to, std::size_t bytes) { return fake::allocate(fake::host, "cudaMallocHost", to, bytes); }
inline cudaError_t cudaFree(void* from) { return fake::release(fake::device, "cudaFree", from); }
inline cudaError_t cudaFreeHost(void* from) { return fake::release(fake::host, "cudaFreeHost", from); }

inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t)
{
    const bool down = kind == cudaMemcpyHostToDevice;
    fake::calls.push_back("copy " + std::to_string(bytes));
    if (fake::fails("cudaMemcpyAsync")) return cudaErrorInvalidValue;
    if (!fake::within(down ? fake::device : fake::host, to, bytes)) return cudaErrorInvalidValue;
    if (!fake::within(down ? fake::host : fake::device, from, bytes)) return cudaErrorInvalidValue;
    std::memcpy(to, from, bytes);
    return cudaSuccess;
}

inline cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t)
{
    if (!fake::within(fake::device, to, bytes)) return cudaErrorInvalidValue;
    std::memset(to, value, bytes);
    return cudaSuccess;
}

inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return fake::fails("cudaStreamSynchronize") ? int(cudaErrorLaunchFailure) : int(cudaSuccess); }

inline cudaError_t cudaGetLastError()
{
    const int code = fake::pending;
    fake::pending = cudaSuccess;
    return code;
}

inline const char* cudaGetErrorName(cudaError_t code)
{
    return code == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation" : code == cudaErrorLaunchFailure ? "cudaErrorLaunchFailure" : "cudaErrorInvalidValue";
}

inline const char* cudaGetErrorString(cudaError_t) { return "as the test wants it"; }
