#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/spelling.h"
#include "schedule/generators/generators.h"
#include "schedule/generators/order_search.h"
#include "schedule/generators/shape_needs.h"

namespace debubble {
namespace {

Reason one_stage_per_rank(const PipelineShape& shape, const GeneratorOptions&) {
    return shape_reason(shape, {.stages_per_rank = 1});
}

Reason any_stages_per_rank(const PipelineShape& shape, const GeneratorOptions&) {
    return shape_reason(shape, {});
}

constexpr GeneratorOption kRounds[] = {
    {"rounds", "megatron, pytorch or padded: how microbatches that p does not divide are grouped"}};
constexpr GeneratorOption kGroup[] = {
    {"group", "microbatches per group, from p/2 to p; fewer save memory and cost bubble"}};

constexpr std::span<const GeneratorOption> kNoOptions;

constexpr std::array kTable{
    Generator{"gpipe", "all forwards, then all backwards", "arXiv:1811.06965", gpipe,
              one_stage_per_rank, false, 1},
    Generator{"1f1b", "one forward, one backward (PipeDream-Flush)", "arXiv:2104.04473",
              one_f_one_b, one_stage_per_rank, false, 1},
    Generator{"eager-1f1b", "1F1B with twice the warm-up, which hides the links (Alpa)",
              "arXiv:2211.05322", eager_one_f_one_b, one_stage_per_rank, false, 1},
    Generator{"interleaved-1f1b", "1F1B over several chunks per rank, depth first (Megatron-LM)",
              "arXiv:2104.04473", interleaved_one_f_one_b, why_not_interleaved_1f1b, false,
              std::nullopt, false, kRounds},
    Generator{"looped-bfs", "several chunks per rank, breadth first", "arXiv:2211.05953",
              looped_bfs, any_stages_per_rank, false},
    Generator{"group-interleaved", "interleaved 1F1B in groups, down to half the memory (GIS)",
              "arXiv:2503.01328", group_interleaved, why_not_group_interleaved, true, std::nullopt,
              false, kGroup},
    Generator{"zb-h1", "zero bubble with 1F1B's memory", "arXiv:2401.10241", zb_h1,
              one_stage_per_rank, true, 1},
    Generator{"zb-h2", "zero bubble with twice 1F1B's memory", "arXiv:2401.10241", zb_h2,
              one_stage_per_rank, true, 1, false, kNoOptions, false, false, note_of_zb_h2},
    Generator{"interleaved-zb", "ZB-H1 over several chunks per rank (PyTorch)",
              "pytorch/pytorch torch/distributed/pipelining/schedules.py", interleaved_zb,
              why_not_interleaved_zb, true},
    Generator{"seq-1f1b", "1F1B over slices of sequences, for causal attention", "arXiv:2406.03488",
              seq_one_f_one_b, why_not_seq_1f1b, false, 1},
    Generator{"zb-auto", "zero bubble by search, under --memory-limit and for measured costs",
              "arXiv:2401.10241", zb_auto, why_not_zb_auto, true, 1, true, kObjective, false, true},
    Generator{"zb-v", "zero bubble with two chunks per rank in a V, and 1F1B's memory",
              "arXiv:2401.10241", zb_v, why_not_zb_v, true, 2, true, kObjective},
    Generator{"v-half", "two chunks per rank in a V, half of 1F1B's memory", "arXiv:2405.15362",
              v_half, why_not_v_shape, true, 2, true},
    Generator{"v-min", "two chunks per rank in a V, a third of 1F1B's memory", "arXiv:2405.15362",
              v_min, why_not_v_shape, true, 2, true},
    Generator{"1f1b-v", "two chunks per rank in a V, backward fused, two thirds of 1F1B's memory",
              "arXiv:2405.15362", one_f_one_b_v, why_not_v_shape, false, 2, true},
    Generator{"chimera", "two 1F1B pipelines in opposite directions, two copies of the parameters",
              "arXiv:2107.06925", chimera, why_not_chimera, false, 1},
    Generator{"dualpipe", "fed from both ends, forward and backward overlapped (DeepSeek-V3)",
              "arXiv:2412.19437", dualpipe, why_not_dualpipe, true, 1, false, kNoOptions, true},
    Generator{"dualpipe-v", "DualPipe cut in half, one copy of the parameters",
              "deepseek-ai/DualPipe dualpipe/dualpipev.py", dualpipe_v, why_not_dualpipe_v, true, 2,
              false, kNoOptions, true},
};

std::string unknown(std::string_view what, std::string_view word,
                    std::span<const std::string> known) {
    std::string sentence = fmt::format("unknown {} '{}'", what, word);
    if (const auto guess = did_you_mean(word, known))
        return sentence + fmt::format("; did you mean '{}'?", *guess);
    return sentence + fmt::format("; known: {}", fmt::join(known, ", "));
}

void check_keys(const Generator& generator, const GeneratorOptions& options) {
    std::vector<std::string> known;
    for (const GeneratorOption& option : generator.options) known.emplace_back(option.key);
    for (const auto& [key, value] : options.values) {
        if (std::ranges::find(known, key) != known.end()) continue;
        throw InputError(
            known.empty() ? fmt::format("schedule '{}' takes no option '{}'", generator.name, key)
                          : unknown("option", key, known));
    }
}

}  // namespace

std::span<const Generator> generators() {
    return kTable;
}

const Generator* find_generator(std::string_view name) {
    const auto* row = std::ranges::find(kTable, name, &Generator::name);
    return row == kTable.end() ? nullptr : row;
}

Reason memory_limit_reason(const Generator& generator, const GeneratorOptions& options) {
    if (!options.memory_limit || generator.takes_memory_limit) return std::nullopt;
    std::vector<std::string_view> obedient;
    for (const Generator& row : kTable)
        if (row.takes_memory_limit) obedient.push_back(row.name);
    return fmt::format("schedule '{}' takes no memory limit; {} searches under one", generator.name,
                       fmt::join(obedient, ", "));
}

Schedule generate(std::string_view name, const PipelineShape& shape,
                  const GeneratorOptions& options) {
    const Generator* generator = find_generator(name);
    if (generator == nullptr) {
        std::vector<std::string> known;
        for (const Generator& row : kTable) known.emplace_back(row.name);
        throw InputError(unknown("schedule", name, known));
    }
    check_keys(*generator, options);
    if (const Reason reason = memory_limit_reason(*generator, options)) throw InputError(*reason);
    if (const Reason reason = generator->why_not(shape, options))
        throw InputError(fmt::format("schedule '{}' cannot be built: {}", name, *reason));
    return generator->make(shape, options);
}

}  // namespace debubble
