#include "text/mapping_reader.h"

namespace debubble::text {
namespace {

struct RetiredKey {
    std::string_view map;
    std::string_view key;
    std::string_view instead;
};

constexpr RetiredKey kRetired[] = {
    // Why each went: docs/cost-model.md, "Fits and knock-outs".
    {"framework", "exchange_beside",
     "one ratio slows all communication that overlaps kernels: exchange_stretch of "
     "scenarios/laws/constants.json"},
    {"framework", "host_checkpoint", "recomputation is launched kernel by kernel: host_kernel"},
    {"framework", "host_tensor_collective",
     "a collective is launched like any kernel: host_kernel"},
    {"framework", "host_unit",
     "an all-gather or reduction is launched like any kernel: host_kernel"},
    {"framework", "optimizer_tensor", "the fixed part of the optimizer step is: optimizer_fixed"},
    {"node_link", "in_network_reduction",
     "the speed-up of all-reduce in switches is: all_reduce_bandwidth, 1 where they do not "
     "reduce"}};

}  // namespace

std::string_view instead_of_retired(std::string_view map, std::string_view key) {
    for (const RetiredKey& retired : kRetired)
        if (retired.map == map && retired.key == key) return retired.instead;
    return {};
}

}  // namespace debubble::text
