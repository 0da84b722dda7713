#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "schedule/generators/generators.h"

namespace debubble {

/// The schedules in the order of menus, each by the name of its file, whose function NAME_row()
/// makes its row.
// clang-format off
#define DEBUBBLE_SCHEDULES(row) \
    row(gpipe)               \
    row(one_f_one_b)         \
    row(eager_1f1b)          \
    row(interleaved_1f1b)    \
    row(combined_1f1b)       \
    row(looped_bfs)          \
    row(group_interleaved)   \
    row(zb_h1)               \
    row(zb_h2)               \
    row(interleaved_zb)      \
    row(seq_1f1b)            \
    row(zb_auto)             \
    row(zb_v)                \
    row(combined_zb_v)       \
    row(v_half)              \
    row(v_min)               \
    row(one_f_one_b_v)       \
    row(chimera)             \
    row(dualpipe)            \
    row(dualpipe_v)
// clang-format on

#define DEBUBBLE_DECLARE(name) Generator name##_row();
DEBUBBLE_SCHEDULES(DEBUBBLE_DECLARE)
#undef DEBUBBLE_DECLARE

namespace {

const auto& table() {
#define DEBUBBLE_ROW(name) name##_row(),
    static const std::array rows = {DEBUBBLE_SCHEDULES(DEBUBBLE_ROW)};
#undef DEBUBBLE_ROW
    return rows;
}

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
    return table();
}

const Generator* find_generator(std::string_view name) {
    const auto* row = std::ranges::find(table(), name, &Generator::name);
    return row == table().end() ? nullptr : row;
}

Reason memory_limit_reason(const Generator& generator, const GeneratorOptions& options) {
    if (options.memory_limits.empty() || generator.takes_memory_limit) return std::nullopt;
    std::vector<std::string_view> obedient;
    for (const Generator& row : table())
        if (row.takes_memory_limit) obedient.push_back(row.name);
    return fmt::format("schedule '{}' takes no memory limit; {} searches under one", generator.name,
                       fmt::join(obedient, ", "));
}

Schedule generate(std::string_view name, const PipelineShape& shape,
                  const GeneratorOptions& options) {
    const Generator* generator = find_generator(name);
    if (generator == nullptr) {
        std::vector<std::string> known;
        for (const Generator& row : table()) known.emplace_back(row.name);
        throw InputError(unknown("schedule", name, known));
    }
    check_keys(*generator, options);
    if (const Reason reason = memory_limit_reason(*generator, options)) throw InputError(*reason);
    if (const Reason reason = generator->why_not(shape, options))
        throw InputError(fmt::format("schedule '{}' cannot be built: {}", name, *reason));
    return generator->make(shape, options);
}

}  // namespace debubble
