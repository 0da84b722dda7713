#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/spelling.h"
#include "schedule/generators/generators.h"

namespace debubble {
namespace {

using Reason = std::optional<std::string>;

Reason one_stage_per_rank(const PipelineShape& shape, const GeneratorOptions&) {
    if (shape.stages_per_rank == 1) return std::nullopt;
    return fmt::format("it holds one stage per rank, and stages_per_rank is {}",
                       shape.stages_per_rank);
}

constexpr std::array kTable{
    Generator{"gpipe", "all forwards, then all backwards", "arXiv:1811.06965", gpipe,
              one_stage_per_rank, false, 1},
    Generator{"1f1b", "one forward, one backward (PipeDream-Flush)", "arXiv:2104.04473",
              one_f_one_b, one_stage_per_rank, false, 1},
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

Schedule generate(std::string_view name, const PipelineShape& shape,
                  const GeneratorOptions& options) {
    const Generator* generator = find_generator(name);
    if (generator == nullptr) {
        std::vector<std::string> known;
        for (const Generator& row : kTable) known.emplace_back(row.name);
        throw InputError(unknown("schedule", name, known));
    }
    check_keys(*generator, options);
    if (const Reason reason = generator->why_not(shape, options))
        throw InputError(fmt::format("schedule '{}' cannot be built: {}", name, *reason));
    return generator->make(shape, options);
}

}  // namespace debubble
