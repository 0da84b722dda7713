#include "sim/measured/compare_measured.h"

#include "scenarios/cluster/kernel_table.h"
#include "scenarios/cluster/reader.h"
#include "scenarios/software/words.h"
#include "sim/cost/kernels/kernel_cost.h"

namespace debubble::sim {
namespace {

constexpr std::pair<std::string_view, bool> kMeasures[] = {{"burst", true}, {"sustained", false}};

struct AskedKernel {
    scenarios::Cluster cluster;
    scenarios::KernelWork work;
};

/// Throws InputError with every mistake.
AskedKernel kernel_asked(const text::NodePtr& scenario) {
    text::Mistakes mistakes;
    text::ShippedFiles shipped;
    AskedKernel asked;
    bool burst = true;
    text::MappingReader in(scenario, "scenario", mistakes);
    in.demand("cluster");
    if (const text::NodePtr cluster = in.value("cluster"))
        asked.cluster = scenarios::read_cluster(cluster, shipped, mistakes);
    asked.work = scenarios::read_kernel_work(in);
    in.word("measures", burst, kMeasures);
    std::optional<models::FusedAttention> kernel;
    in.word("attention", kernel, scenarios::kFusedAttentions);
    in.finish();
    if (in.good() && std::holds_alternative<std::monostate>(asked.work))
        in.complain("kernel", "only GEMMs and attention can be priced by themselves");
    mistakes.throw_if_any();
    scenarios::Gpu& gpu = asked.cluster.gpu;
    if (auto* attention = std::get_if<models::FlashAttention>(&asked.work)) {
        if (gpu.fp8_flops_per_s) attention->kernel = models::FusedAttention::Cudnn;
        if (kernel) attention->kernel = *kernel;
    }
    if (burst) {
        gpu.sustained_clock = 1;
        gpu.fp8_sustained_clock = 1;
    }
    return asked;
}

template <class Work>
void compare_times(MeasuredComparison& row, const Work& work, const scenarios::Gpu& gpu) {
    models::Kernel kernel;
    kernel.work = work;
    row.work = models::flops(kernel);
    row.time = Compared{*row.step.time_s, seconds(kernel_time(work, gpu))};
}

}  // namespace

MeasuredComparison compare_kernel(const MeasuredStep& step) {
    MeasuredComparison row;
    row.step = step;
    try {
        const AskedKernel asked = kernel_asked(step.scenario);
        row.gpu = asked.cluster.name;
        row.fits = true;
        if (const auto* gemm = std::get_if<models::Gemm>(&asked.work))
            compare_times(row, *gemm, asked.cluster.gpu);
        else if (const auto* attention = std::get_if<models::FlashAttention>(&asked.work))
            compare_times(row, *attention, asked.cluster.gpu);
    } catch (const InputError& error) {
        row.unsaid = error.diagnostics().front().message;
    }
    return row;
}

}  // namespace debubble::sim
