// Stands for libcuda.so.1 where there is no GPU: device memory is the host's, and a launch writes
// down what it was given and copies the first input to the output.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

static int environment(const char* name, int otherwise) {
    const char* text = std::getenv(name);
    return text != nullptr ? std::atoi(text) : otherwise;
}

extern "C" {

int cuInit(unsigned) { return environment("FAKE_INIT", 0); }
int cuDeviceGet(int* device, int index) { *device = index + 7; return 0; }
int cuDeviceGetAttribute(int* value, int which, int device) {
    if (device != 7) return 101;
    switch (which) {
        case 16: *value = 3; return 0;
        case 75: *value = environment("FAKE_ARCH", 90) / 10; return 0;
        case 76: *value = environment("FAKE_ARCH", 90) % 10; return 0;
        default: return 1;
    }
}
int cuDevicePrimaryCtxRetain(void** context, int device) { *context = context; return device != 7; }
int cuCtxSetCurrent(void* context) { return context == nullptr; }
int cuModuleLoadData(void** module, const void* image) {
    std::printf("image %s\n", std::memcmp(image, "\177ELF", 4) == 0 ? "cubin" : "ptx");
    *module = module;
    return 0;
}
int cuModuleGetFunction(void** function, void*, const char* name) {
    std::printf("kernel %s\n", name);
    *function = function;
    return 0;
}
int cuFuncSetAttribute(void*, int which, int value) {
    std::printf("attribute %d %d\n", which, value);
    return 0;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void*, int, std::size_t) {
    *blocks = 2;
    return 0;
}
int cuMemAlloc_v2(unsigned long long* pointer, std::size_t size) {
    *pointer = reinterpret_cast<unsigned long long>(std::calloc(size, 1));
    return 0;
}
int cuMemFree_v2(unsigned long long pointer) {
    std::free(reinterpret_cast<void*>(pointer));
    return 0;
}
int cuMemcpyHtoD_v2(unsigned long long to, const void* from, std::size_t size) {
    std::memcpy(reinterpret_cast<void*>(to), from, size);
    return 0;
}
int cuMemcpyDtoH_v2(void* to, unsigned long long from, std::size_t size) {
    std::memcpy(to, reinterpret_cast<void*>(from), size);
    return 0;
}
// (batch, aligned, q, qd, u, gravity, qdd) of two joints.
int cuLaunchKernel(void*, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void* stream, void** parameters, void** extra) {
    const std::int64_t batch = *static_cast<std::int64_t*>(parameters[0]);
    const int aligned = *static_cast<int*>(parameters[1]);
    const double gravity = *static_cast<double*>(parameters[5]);
    std::printf("grid %u %u %u block %u %u %u shared %u stream %d extra %d\n", gx, gy, gz, bx, by, bz,
                shared, stream != nullptr, extra != nullptr);
    std::printf("batch %lld aligned %d gravity %g\n", static_cast<long long>(batch), aligned, gravity);
    std::memcpy(*static_cast<void**>(parameters[6]), *static_cast<void**>(parameters[2]),
                std::size_t(batch) * 2 * sizeof(double));
    return environment("FAKE_LAUNCH", 0);
}
int cuCtxSynchronize() { return 0; }
int cuGetErrorName(int status, const char** name) {
    *name = status == 100 ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR_OTHER";
    return 0;
}
}
