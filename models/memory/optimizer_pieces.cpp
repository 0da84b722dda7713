#include "models/memory/static_memory.h"

#include <algorithm>

#include "base/check.h"

namespace debubble::models {

namespace {

/// Cuts the last rank's part of one bucket where a parameter ends.
void cut_bucket(const std::vector<std::int64_t>& bucket, int shards,
                std::vector<std::int64_t>& pieces) {
    std::int64_t size = 0;
    for (const std::int64_t elements : bucket) size += elements;
    const std::int64_t begin = size - size / shards;
    std::int64_t at = 0;
    for (const std::int64_t elements : bucket) {
        const std::int64_t owned = at + elements - std::max(at, begin);
        if (owned > 0) pieces.push_back(owned);
        at += elements;
    }
}

}  // namespace

std::vector<std::int64_t> optimizer_pieces(const StageGraph& graph, int shards,
                                           std::int64_t bucket_elements, bool experts) {
    DEBUBBLE_CHECK(shards >= 1 && bucket_elements >= 1,
                   "a bucket has elements, and at least one rank has them");
    std::vector<std::int64_t> pieces, bucket;
    std::int64_t filled = 0;
    const auto close = [&] {
        cut_bucket(bucket, shards, pieces);
        bucket.clear();
        filled = 0;
    };
    for (auto parameter = graph.parameters.rbegin(); parameter != graph.parameters.rend();
         ++parameter) {
        if (parameter->expert != experts) continue;
        bucket.push_back(parameter->elements_of_rank(graph.execution));
        filled += bucket.back();
        if (filled >= bucket_elements) close();
    }
    if (!bucket.empty()) close();
    return pieces;
}

std::int64_t megatron_bucket_elements(int shards) {
    constexpr std::int64_t kMillion = 1'000'000;
    return std::max(40 * kMillion, shards * kMillion);
}

}  // namespace debubble::models
