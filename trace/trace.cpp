#include "trace/trace.h"

#include <algorithm>

namespace debubble {

namespace {

constexpr ArrayBy<PairStep, std::string_view, kPairSteps> kPairStepNames{
    "outside", "attention",         "dispatch",      "experts",
    "combine", "attention weights", "expert weights"};
constexpr ArrayBy<TraceSource, std::string_view, 4> kSourceNames{"simulated", "executed",
                                                                 "replayed", "profiled"};

/// The enumerator with that name, of those that are named in order from 0 on.
template <class Enumeration>
std::optional<Enumeration> named(const auto& names, std::string_view name) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) return std::nullopt;
    return static_cast<Enumeration>(found - names.begin());
}

}  // namespace

std::string_view name_of(PairStep step) {
    return kPairStepNames[step];
}

std::optional<PairStep> pair_step_named(std::string_view name) {
    return named<PairStep>(kPairStepNames, name);
}

std::string_view name_of(TraceSource source) {
    return kSourceNames[source];
}

std::optional<TraceSource> trace_source_named(std::string_view name) {
    return named<TraceSource>(kSourceNames, name);
}

}  // namespace debubble
