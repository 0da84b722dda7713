#include <algorithm>
#include <array>

#include "trace/trace.h"

namespace debubble {

namespace {

constexpr std::array<std::string_view, kPairSteps> kNames{
    "outside", "attention",         "dispatch",      "experts",
    "combine", "attention weights", "expert weights"};

}  // namespace

std::string_view name_of(PairStep step) {
    return kNames[static_cast<std::size_t>(step)];
}

std::optional<PairStep> pair_step_named(std::string_view name) {
    const auto found = std::ranges::find(kNames, name);
    if (found == kNames.end()) return std::nullopt;
    return static_cast<PairStep>(found - kNames.begin());
}

}  // namespace debubble
