#include "text/retired_keys.h"

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
     "communication beside kernels is slower everywhere by one ratio: exchange_stretch of "
     "scenarios/laws/constants.json"},
    {"framework", "host_checkpoint", "what runs again is launched kernel by kernel: host_kernel"},
    {"framework", "host_tensor_collective", "a collective is a launch as others: host_kernel"},
    {"framework", "host_unit", "a gather or a reduction is a launch as others: host_kernel"},
    {"framework", "optimizer_tensor",
     "the time of a step that does not depend on its size: optimizer_fixed"},
    {"node_link", "in_network_reduction",
     "how much faster switches make an all-reduce: all_reduce_bandwidth, 1 where they do not add"}};

}  // namespace

std::string_view instead_of_retired(std::string_view map, std::string_view key) {
    for (const RetiredKey& retired : kRetired)
        if (retired.map == map && retired.key == key) return retired.instead;
    return {};
}

}  // namespace debubble::text
