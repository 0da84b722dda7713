#include <cuda_runtime.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "exec/core/device.h"
#include "exec/cuda/cuda_gpu.h"
#include "exec/cuda/cuda_kernels.h"
#include "exec/cuda/kernels/geometry.h"
#include "exec/cuda/lanes.h"
#include "exec/cuda/load_module.h"
#include "exec/cuda/module.h"
#include "exec/cuda/products/product_choices.h"
#include "exec/cuda/sm_partition.h"

/// The GPU of a rank: lanes, memory, and the kernels that run on it.
namespace debubble::exec::cuda {

/// The reason why this module's machine code does not run on the thread's GPU; empty if it does
/// (kernels/launch.cu).
std::string why_no_kernels();

namespace {

/// The driver's version from the kernel module, such as "570.86.15"; empty if it gives none.
std::string driver_version() {
    std::ifstream file("/proc/driver/nvidia/version");
    std::string line, word, found;
    std::getline(file, line);
    for (std::istringstream words(line); found.empty() && words >> word;)
        if (std::isdigit(static_cast<unsigned char>(word[0])) &&
            word.find('.') != std::string::npos)
            found = word;
    return found;
}

/// CUDA counts 13.1 as 13010, cuBLASLt 13.1.2 as 130102.
std::string versions() {
    int driver = 0, runtime = 0;
    check(cudaDriverGetVersion(&driver), "the driver");
    check(cudaRuntimeGetVersion(&runtime), "CUDA");
    const std::size_t library = cublas_lt_version();
    return fmt::format("driver {} for CUDA {}.{}, CUDA {}.{}, cuBLASLt {}.{}.{}", driver_version(),
                       driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10,
                       library / 10000, library / 100 % 100, library % 100);
}

/// This project's kernels are the default until a measurement shows that cuDNN's are faster.
std::unique_ptr<AttentionLibrary> attention_library() {
    const char* const wish = std::getenv("DEBUBBLE_ATTENTION");
    const std::string which = wish ? wish : "own";
    if (which == "own") return nullptr;
    if (which != "cudnn")
        throw WorldError("DEBUBBLE_ATTENTION is '" + which + "'; it can be own or cudnn");
    constexpr const char* kModule = "debubble_cudnn.so";
    void* const module = open_module(kModule).demand(
        "cuDNN",
        "DEBUBBLE_ATTENTION is cudnn, and this build has no cuDNN: it was configured without "
        "cuDNN's front end (DEBUBBLE_CUDNN=FETCH downloads it)");
    const auto make = find_in<AttentionLibrary* (*)()>(module, kModule, "debubble_cudnn_attention");
    return std::unique_ptr<AttentionLibrary>(make());
}

class CudaDevice final : public Device {
public:
    CudaDevice(int device, int part, int ranks_on_it)
        : gpu_(device, part, part < 0 ? 1 : ranks_on_it), lanes_(gpu_), ranks_on_it_(ranks_on_it) {
        cudaDeviceProp properties{};
        check(cudaGetDeviceProperties(&properties, device), "the GPU");
        name_ = properties.name;
        if (const std::string why = why_no_kernels(); !why.empty())
            throw WorldError(
                fmt::format("{} has compute capability {}.{}, and this build's kernels, which are "
                            "for {}, do not "
                            "run there ({}): configure it with -DCMAKE_CUDA_ARCHITECTURES={}{}",
                            name_, properties.major, properties.minor, DEBUBBLE_CUDA_ARCHITECTURES,
                            why, properties.major, properties.minor));
        const int own = gpu_.multiprocessors();
        products_.multiprocessors = own;
        facts_ = {own > 0 ? own : properties.multiProcessorCount,
                  Bytes{static_cast<std::int64_t>(properties.totalGlobalMem)},
                  properties.major >= 8, ranks_on_it, versions()};
    }
    std::string name() const override { return name_; }
    std::string note() const override { return gpu_.note(); }

    /// Ranks on one GPU share its memory; kLeft is left to what libraries take later.
    Bytes room() const override {
        std::size_t free = 0, all = 0;
        check(cudaMemGetInfo(&free, &all), "memory of the GPU");
        const std::size_t share = std::min(free, all / static_cast<std::size_t>(ranks_on_it_));
        return Bytes{static_cast<std::int64_t>((share - std::min(share, kLeft)) / kPage * kPage)};
    }
    std::int64_t widest_head() const override { return kMaxHeadDim; }
    bool takes_heads(std::int64_t keys, std::int64_t values) const override {
        return has_widths_for(keys, values);
    }
    DeviceFacts facts() const override { return facts_; }
    std::byte* reserve(Bytes size) override {
        return static_cast<std::byte*>(gpu_.allocate(size.count));
    }
    void release(std::byte* memory) noexcept override { gpu_.free(memory); }
    std::byte* reserve_host(Bytes size) override {
        void* memory = nullptr;
        check(cudaHostAlloc(&memory, static_cast<std::size_t>(size.count), cudaHostAllocMapped),
              "page-locked memory of the host");
        return static_cast<std::byte*>(memory);
    }
    void release_host(std::byte* memory) noexcept override { cudaFreeHost(memory); }
    std::unique_ptr<Kernels> make_kernels() override {
        Queue& queue = lanes_.queue(kComputeLane);
        return std::make_unique<CudaKernels>(queue, make_cublas_lt(queue, products_),
                                             attention_library());
    }
    DeviceLanes& lanes() override { return lanes_; }
    void leave_to_communications(int multiprocessors) override {
        products_.multiprocessors = multiprocessors_for_products(
            facts_.multiprocessors, multiprocessors, gpu_.multiprocessors() == 0);
    }

    void choose_products(const ProductChoices& chosen) override { products_.chosen = chosen; }
    void time_products(bool times) override { products_.times = times; }
    ProductChoices timed_products() const override { return products_.timed; }

private:
    static constexpr std::size_t kPage = std::size_t{2} << 20, kLeft = std::size_t{1} << 30;
    CudaGpu gpu_;
    Lanes lanes_;
    int ranks_on_it_;
    ProductChoosing products_;
    std::string name_;
    DeviceFacts facts_;
};

}  // namespace
}  // namespace debubble::exec::cuda

using debubble::WorldError;

/// The functions that exec/cuda/load_module.cpp looks for.
extern "C" int debubble_cuda_count() {
    int driver = 0;  // stays 0 where none is installed
    if (cudaDriverGetVersion(&driver) != cudaSuccess) driver = CUDART_VERSION;
    int count = 0;
    const cudaError_t status = driver == 0 ? cudaSuccess : cudaGetDeviceCount(&count);
    if (status == cudaSuccess && count > 0) return count;
    debubble::exec::cuda::NoGpu none{{}, CUDART_VERSION, {}};
    if (driver != 0) none.driver = driver;
    if (status != cudaSuccess)
        none.error = debubble::exec::cuda::NoGpu::Error{cudaGetErrorName(status),
                                                        cudaGetErrorString(status)};
    throw WorldError(sentence_of(none));
}

extern "C" void debubble_cuda_bus_id(int device, char* text, int size) {
    debubble::exec::cuda::check(cudaDeviceGetPCIBusId(text, size, device), "the GPU");
}

extern "C" debubble::exec::Device* debubble_cuda_device(int device, int part, int ranks_on_it) {
    return new debubble::exec::cuda::CudaDevice(device, part, ranks_on_it);
}
