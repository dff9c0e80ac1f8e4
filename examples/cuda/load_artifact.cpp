// Runs an operation of a prepared artifact with the CUDA driver alone.
//
//   grid artifact build iiwa14 iiwa14.grid --backend cuda --algorithm-list forward_dynamics
//   grid artifact check iiwa14.grid
//   g++ -std=c++17 -O2 load_artifact.cpp -o load_artifact -ldl
//   ./load_artifact iiwa14.grid forward_dynamics 5
//
// It needs a C++17 compiler and a driver: neither Python nor a CUDA toolkit, whose few
// declarations that are used here stand below. What a launch must know is in the artifact's
// launch.txt, which docs/artifacts.md describes; nothing here checks its hashes.

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

// ---- The driver: its names of version 4.0 and later, as <cuda.h> maps them. ----

using CUresult = int;
using CUdevice = int;
using CUcontext = void*;
using CUmodule = void*;
using CUfunction = void*;
using CUstream = void*;
using CUdeviceptr = unsigned long long;

constexpr int MULTIPROCESSOR_COUNT = 16;       // CU_DEVICE_ATTRIBUTE_…
constexpr int CAPABILITY_MAJOR = 75;           // CU_DEVICE_ATTRIBUTE_COMPUTE_…
constexpr int CAPABILITY_MINOR = 76;
constexpr int MAX_DYNAMIC_SHARED_SIZE = 8;     // CU_FUNC_ATTRIBUTE_…_BYTES

struct Driver {
    CUresult (*init)(unsigned);
    CUresult (*device_get)(CUdevice*, int);
    CUresult (*device_attribute)(int*, int, CUdevice);
    CUresult (*context_retain)(CUcontext*, CUdevice);
    CUresult (*context_set)(CUcontext);
    CUresult (*module_load)(CUmodule*, const void*);
    CUresult (*module_function)(CUfunction*, CUmodule, const char*);
    CUresult (*function_set)(CUfunction, int, int);
    CUresult (*occupancy)(int*, CUfunction, int, std::size_t);
    CUresult (*allocate)(CUdeviceptr*, std::size_t);
    CUresult (*release)(CUdeviceptr);
    CUresult (*to_device)(CUdeviceptr, const void*, std::size_t);
    CUresult (*to_host)(void*, CUdeviceptr, std::size_t);
    CUresult (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                       unsigned, CUstream, void**, void**);
    CUresult (*synchronize)();
    CUresult (*error_name)(CUresult, const char**);
};

template <typename Function>
void find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (function == nullptr) throw std::runtime_error(std::string("the driver has no ") + name);
}

Driver open_driver() {
    void* library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == nullptr) throw std::runtime_error("no NVIDIA driver: libcuda.so.1 is not there");
    Driver cuda{};
    find(library, "cuInit", cuda.init);
    find(library, "cuDeviceGet", cuda.device_get);
    find(library, "cuDeviceGetAttribute", cuda.device_attribute);
    find(library, "cuDevicePrimaryCtxRetain", cuda.context_retain);
    find(library, "cuCtxSetCurrent", cuda.context_set);
    find(library, "cuModuleLoadData", cuda.module_load);
    find(library, "cuModuleGetFunction", cuda.module_function);
    find(library, "cuFuncSetAttribute", cuda.function_set);
    find(library, "cuOccupancyMaxActiveBlocksPerMultiprocessor", cuda.occupancy);
    find(library, "cuMemAlloc_v2", cuda.allocate);
    find(library, "cuMemFree_v2", cuda.release);
    find(library, "cuMemcpyHtoD_v2", cuda.to_device);
    find(library, "cuMemcpyDtoH_v2", cuda.to_host);
    find(library, "cuLaunchKernel", cuda.launch);
    find(library, "cuCtxSynchronize", cuda.synchronize);
    find(library, "cuGetErrorName", cuda.error_name);
    return cuda;
}

void check(const Driver& cuda, CUresult status, const std::string& what) {
    if (status == 0) return;
    const char* name = nullptr;
    cuda.error_name(status, &name);
    throw std::runtime_error(what + ": " + (name != nullptr ? name : std::to_string(status)));
}

// ---- launch.txt ----

struct Argument {
    std::string name;
    std::string kind;   // int64, int32, input, uniform, output
    std::string value;  // scalars of one problem, or a uniform input's default
    std::size_t width() const { return std::stoul(value); }
};

struct Code {
    int major = 0, minor = 0;
    bool specific = false;  // sm_90a and its like run on devices of that very number alone
    bool ptx = false;
    unsigned block_threads = 0, shared_bytes = 0, waves = 0, registers = 0;
    long long block_problems = 0;
    std::string file;
};

struct Launch {
    std::string dtype, kernel;
    std::vector<Argument> arguments;
    std::vector<Code> codes;
};

Code read_code(std::istringstream& words) {
    Code code;
    std::string backend, target, suffix;
    words >> backend >> target >> suffix >> code.block_threads >> code.shared_bytes >>
        code.block_problems >> code.waves >> code.registers >> code.file;
    if (!words || target.rfind("sm_", 0) != 0) throw std::runtime_error("launch.txt: a code line");
    const int number = std::stoi(target.substr(3));
    code.major = number / 10;
    code.minor = number % 10;
    code.specific = target.back() == 'a' || target.back() == 'f';
    code.ptx = suffix == "ptx";
    return code;
}

// The launch of an operation without its optional inputs.
Launch read_launch(const std::string& directory, const std::string& operation) {
    std::ifstream file(directory + "/launch.txt");
    if (!file) throw std::runtime_error(directory + "/launch.txt cannot be read");
    std::string line;
    std::getline(file, line);
    if (line != "grid.launch 2") throw std::runtime_error("launch.txt is not of version 2");
    Launch launch;
    bool wanted = false, ended = false;
    while (std::getline(file, line)) {
        std::istringstream words(line);
        std::string word;
        words >> word;
        if (word == "end") {
            ended = true;
        } else if (word == "dtype") {
            words >> launch.dtype;
        } else if (word == "operation") {
            std::string name, number, present;
            words >> name >> number >> present;
            wanted = launch.kernel.empty() && name == operation && present == "-";
        } else if (wanted && word == "kernel") {
            words >> launch.kernel;
        } else if (wanted && word == "argument") {
            Argument argument;
            words >> argument.name >> argument.kind >> argument.value;
            launch.arguments.push_back(argument);
        } else if (wanted && word == "code") {
            launch.codes.push_back(read_code(words));
        }
    }
    if (!ended) throw std::runtime_error("launch.txt is cut off");
    if (launch.kernel.empty()) throw std::runtime_error("the artifact has no " + operation);
    return launch;
}

// Machine code of the device's generation that is not newer, else PTX that is not newer.
const Code& choose(const Launch& launch, int major, int minor) {
    const Code* best = nullptr;
    for (const Code& code : launch.codes) {
        const bool newer = code.major > major || (code.major == major && code.minor > minor);
        const bool other = code.specific && (code.major != major || code.minor != minor);
        if (newer || other || code.ptx == (code.major == major)) continue;
        if (best == nullptr || code.major > best->major ||
            (code.major == best->major && code.minor > best->minor)) {
            best = &code;
        }
    }
    if (best == nullptr) throw std::runtime_error("the artifact has no code for this device");
    return *best;
}

// ---- Running it ----

// Numbers that another program can make again: entry k of the input at a place.
template <typename T>
T example_value(std::size_t place, std::size_t k) {
    return static_cast<T>(static_cast<int>((place * 1000 + k) * 37 % 201) - 100) / T(100);
}

template <typename T>
void run(const Driver& cuda, CUdevice device, const Code& code, const Launch& launch,
         CUfunction function, long long batch) {
    check(cuda, cuda.function_set(function, MAX_DYNAMIC_SHARED_SIZE, int(code.shared_bytes)),
          "asking for shared memory");
    int resident = 0, multiprocessors = 0;
    check(cuda, cuda.occupancy(&resident, function, int(code.block_threads), code.shared_bytes),
          "asking for the occupancy");
    check(cuda, cuda.device_attribute(&multiprocessors, MULTIPROCESSOR_COUNT, device), "device");

    std::int64_t count = batch;
    std::int32_t aligned = 1;  // what cuMemAlloc gives is aligned far beyond 16 bytes
    std::vector<CUdeviceptr> pointers(launch.arguments.size());
    std::vector<T> uniform(launch.arguments.size());
    std::vector<void*> parameters;
    std::size_t place = 0;
    for (std::size_t a = 0; a < launch.arguments.size(); ++a) {
        const Argument& argument = launch.arguments[a];
        if (argument.kind == "int64") {
            parameters.push_back(&count);
        } else if (argument.kind == "int32") {
            parameters.push_back(&aligned);
        } else if (argument.kind == "uniform") {
            uniform[a] = static_cast<T>(std::stod(argument.value));
            parameters.push_back(&uniform[a]);
        } else {
            // Rows of one problem each, one after the other.
            std::vector<T> host(std::size_t(batch) * argument.width());
            const std::size_t bytes = std::max<std::size_t>(host.size() * sizeof(T), 16);
            check(cuda, cuda.allocate(&pointers[a], bytes), "taking memory");
            if (argument.kind == "input") {
                for (std::size_t k = 0; k < host.size(); ++k) {
                    host[k] = example_value<T>(place, k);
                }
                ++place;
                check(cuda, cuda.to_device(pointers[a], host.data(), host.size() * sizeof(T)),
                      "copying " + argument.name);
            }
            parameters.push_back(&pointers[a]);
        }
    }

    long long blocks = (batch + code.block_problems - 1) / code.block_problems;
    if (code.waves != 0) {  // blocks go on to the next problems: no more than can be resident
        blocks = std::min(blocks, static_cast<long long>(code.waves) * resident * multiprocessors);
    }
    check(cuda, cuda.launch(function, unsigned(blocks), 1, 1, code.block_threads, 1, 1,
                            code.shared_bytes, nullptr, parameters.data(), nullptr),
          "launching " + launch.kernel);
    check(cuda, cuda.synchronize(), "running " + launch.kernel);

    for (std::size_t a = 0; a < launch.arguments.size(); ++a) {
        const Argument& argument = launch.arguments[a];
        if (argument.kind == "output") {
            const std::size_t width = argument.width();
            std::vector<T> host(std::size_t(batch) * width);
            check(cuda, cuda.to_host(host.data(), pointers[a], host.size() * sizeof(T)),
                  "copying " + argument.name);
            for (long long row = 0; row < batch; ++row) {
                std::printf("%s[%lld] =", argument.name.c_str(), row);
                for (std::size_t k = 0; k < width; ++k) {
                    std::printf(" %.17g", double(host[std::size_t(row) * width + k]));
                }
                std::printf("\n");
            }
        }
        if (pointers[a] != 0) cuda.release(pointers[a]);
    }
}

void work(const std::string& directory, const std::string& operation, long long batch) {
    const Launch launch = read_launch(directory, operation);
    const Driver cuda = open_driver();
    check(cuda, cuda.init(0), "starting the driver");
    CUdevice device = 0;
    CUcontext context = nullptr;
    int major = 0, minor = 0;
    check(cuda, cuda.device_get(&device, 0), "device 0");
    check(cuda, cuda.device_attribute(&major, CAPABILITY_MAJOR, device), "device 0");
    check(cuda, cuda.device_attribute(&minor, CAPABILITY_MINOR, device), "device 0");
    check(cuda, cuda.context_retain(&context, device), "device 0");
    check(cuda, cuda.context_set(context), "device 0");

    const Code& code = choose(launch, major, minor);
    std::ifstream file(directory + "/" + code.file, std::ios::binary);
    std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
    if (bytes.empty()) throw std::runtime_error(code.file + " cannot be read");
    bytes.push_back('\0');  // PTX is text
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    check(cuda, cuda.module_load(&module, bytes.data()), "loading " + code.file);
    check(cuda, cuda.module_function(&function, module, launch.kernel.c_str()), launch.kernel);
    std::fprintf(stderr, "%s on sm_%d%d, %u registers a thread\n", code.file.c_str(), major, minor,
                 code.registers);
    if (launch.dtype == "float64") {
        run<double>(cuda, device, code, launch, function, batch);
    } else {
        run<float>(cuda, device, code, launch, function, batch);
    }
}

}  // namespace

int main(int count, char** words) {
    if (count < 2 || count > 4) {
        std::cerr << "usage: load_artifact DIR [OPERATION [BATCH]]\n";
        return 2;
    }
    try {
        long long batch = 5;
        if (count > 3) {
            std::istringstream given(words[3]);
            if (!(given >> batch) || given.peek() != EOF || batch < 1)
                throw std::runtime_error("BATCH must be an integer of at least 1");
        }
        work(words[1], count > 2 ? words[2] : "forward_dynamics", batch);
    } catch (const std::exception& error) {
        std::cerr << "load_artifact: " << error.what() << "\n";
        return 1;
    }
    return 0;
}
