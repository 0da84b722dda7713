#include "exec/program/calibrate/measure_device.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "exec/comm/transports.h"
#include "exec/cpu/cpu_kernels.h"
#include "exec/program/calibrate/statistics.h"

namespace debubble::exec {

namespace {

constexpr std::int64_t kGemmSide = 512;
constexpr std::int64_t kCopied = 8 << 20;  ///< elements of a copy: 32 MiB from, 32 MiB to
constexpr int kTimed = 10;

double median_seconds(Kernels& kernels, const std::function<void()>& work) {
    std::vector<double> seconds;
    for (int i = 0; i <= kTimed; ++i) {
        const Clock::time_point begin = Clock::now();
        work();
        kernels.finish();
        const std::chrono::duration<double> took = Clock::now() - begin;
        if (i > 0) seconds.push_back(took.count());
    }
    return median(std::move(seconds));
}

double product_rate(Kernels& kernels, DataType type) {
    const Shape square{kGemmSide, kGemmSide};
    const Tensor x(square, type), weight(square, type), y(square, type);
    const double seconds = median_seconds(kernels, [&] {
        kernels.linear_forward(WeightLayout::InputsOutputs, x.view(), weight.view(), {}, y.view());
    });
    return 2.0 * kGemmSide * kGemmSide * kGemmSide / seconds;
}

double copy_rate(Kernels& kernels) {
    const Tensor from({kCopied}), to({kCopied});
    return 2 * static_cast<double>(from.bytes()) /
           median_seconds(kernels, [&] { kernels.copy(from.view(), to.view()); });
}

/// The value after "key : " in /proc/cpuinfo, for the first processor.
std::string cpuinfo(const std::string& key) {
    std::ifstream in("/proc/cpuinfo");
    for (std::string line; std::getline(in, line);) {
        const std::size_t colon = line.find(": ");
        if (line.starts_with(key) && colon != std::string::npos) return line.substr(colon + 2);
    }
    return {};
}

constexpr const char* kAvx512Bf16 = "avx512_bf16";
constexpr const char* kAmxBf16 = "amx_bf16";

/// The processor's features on which the kernels depend.
std::vector<std::string> features() {
    std::istringstream all(cpuinfo("flags"));
    std::vector<std::string> found;
    for (std::string flag; all >> flag;)
        for (const char* wanted : {"avx2", "fma", "avx512f", kAvx512Bf16, kAmxBf16})
            if (flag == wanted) found.push_back(flag);
    return found;
}

}  // namespace

DeviceFigures measure_device(int ranks, const MeasureOptions& how) {
    DeviceFigures figures;  // written by rank 0
    run_local(ranks, Transport::Buffered, [&](Communicator& world) {
        const auto compute = make_cpu_kernels(how.kernels, how.threads);
        world.barrier("calibrate")->wait(within(how.patience));
        const double fp32 = product_rate(*compute, DataType::Fp32);
        const double bf16 = product_rate(*compute, DataType::Bf16);
        const double bytes = copy_rate(*compute);
        world.barrier("calibrate")->wait(within(how.patience));
        if (world.rank() != 0) return;
        figures.fp32_flops_per_s = fp32;
        figures.bf16_flops_per_s = bf16;
        figures.memory_bandwidth = {bytes};
    });
    figures.processor = cpuinfo("model name");
    if (figures.processor.empty()) figures.processor = "processor";
    const std::vector<std::string> found = features();
    figures.features = fmt::format("{}", fmt::join(found, " "));
    figures.cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    figures.bf16 = std::ranges::any_of(
        found, [](const std::string& flag) { return flag == kAvx512Bf16 || flag == kAmxBf16; });
    figures.memory = Bytes{std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE) / ranks};
    return figures;
}

GpuFigures measure_gpu(int ranks, const MeasureOptions& how) {
    GpuFigures figures;  // written by rank 0
    run_local(ranks, Transport::Buffered, [&](Communicator& world) {
        const std::shared_ptr<Device> device = how.device(world.rank(), world.size());
        Arena arena(device->room(), device.get());
        const std::unique_ptr<Kernels> kernels = device->make_kernels();
        GpuFigures mine{device->name(), device->facts(), {}, {}};
        world.barrier("calibrate")->wait(within(how.patience));
        mine.timings = sweep_device(mine.facts, *kernels, arena, how.sweep);
        world.barrier("calibrate")->wait(within(how.patience));
        mine.copies = host_copy_rates(device->lanes(), arena, how.sweep);
        world.barrier("calibrate")->wait(within(how.patience));
        if (world.rank() == 0) figures = std::move(mine);
    });
    return figures;
}

}  // namespace debubble::exec
