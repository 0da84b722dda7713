#include "schedule/generators/shape_needs.h"

#include <charconv>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

namespace debubble {
namespace {

/// Limits memory: a pass takes some 40 bytes, and a split backward writes three.
constexpr std::int64_t kGreatestTurns = 20'000'000;
constexpr int kGreatestSlices = 32767;  ///< MicroBatch::slice has 16 bits

}  // namespace

Reason shape_reason(const PipelineShape& shape, const ShapeNeeds& needs) {
    const std::pair<const char*, int> counts[] = {{"ranks", shape.ranks},
                                                  {"stages_per_rank", shape.stages_per_rank},
                                                  {"micro_batches", shape.micro_batches},
                                                  {"slices", shape.slices}};
    std::int64_t turns = 1;
    for (const auto& [name, count] : counts) {
        if (count < 1) return fmt::format("{} must be at least 1, not {}", name, count);
        if (turns > kGreatestTurns / count)
            return fmt::format(
                "{} ranks x {} stages x {} microbatches x {} slices are more than the {} passes "
                "that a schedule may have",
                shape.ranks, shape.stages_per_rank, shape.micro_batches, shape.slices,
                kGreatestTurns);
        turns *= count;
    }
    if (needs.stages_per_rank && *needs.stages_per_rank != shape.stages_per_rank)
        return fmt::format("it holds {} per rank, and stages_per_rank is {}",
                           *needs.stages_per_rank == 1
                               ? std::string("one stage")
                               : fmt::format("{} stages", *needs.stages_per_rank),
                           shape.stages_per_rank);
    if (!needs.slices && shape.slices > 1)
        return fmt::format("it does not cut sequences, and slices is {}", shape.slices);
    if (shape.slices > kGreatestSlices)
        return fmt::format("a sequence is cut into {} slices at most, and slices is {}",
                           kGreatestSlices, shape.slices);
    return std::nullopt;
}

Reason one_stage_per_rank(const PipelineShape& shape, const GeneratorOptions&) {
    return shape_reason(shape, {.stages_per_rank = 1});
}

Reason any_stages_per_rank(const PipelineShape& shape, const GeneratorOptions&) {
    return shape_reason(shape, {});
}

OptionValue whole_number(const GeneratorOptions& options, const std::string& key, int fallback,
                         int least, int greatest) {
    const auto found = options.values.find(key);
    if (found == options.values.end()) return {fallback};
    const std::string& text = found->second;
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < least ||
        value > greatest)
        return {fallback, fmt::format("{} must be a whole number from {} to {}, not '{}'", key,
                                      least, greatest, text)};
    return {value};
}

}  // namespace debubble
