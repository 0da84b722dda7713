#include "sim/choose.h"

#include <array>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/plan/plan_bound.h"
#include "text/wording.h"

namespace debubble::sim {
namespace {

using scenarios::Scenario;

std::string layers_text(const Scenario& scenario) {
    return fmt::format("{} layers", fmt::join(scenario.parallel.layers_per_stage, ", "));
}

/// A cut with what is known of it.
struct CutCandidate {
    Scenario scenario;
    const char* name;      ///< "uniform"
    const char* sentence;  ///< "the uniform cut"
    PlanBound bound;
    std::optional<Prediction> played = {};
};

/// True if the other one need not be played.
bool rules_out(const CutCandidate& played, const CutCandidate& other) {
    return (played.played->fits || !other.bound.fits()) &&
           other.bound.step_time_s * (1 - kRoundingOfBound) > played.played->step_time_s;
}

/// The one that was not chosen, relative to the one that was.
std::string beside(const CutCandidate& chosen, const CutCandidate& other) {
    const std::string cut = fmt::format("{}, {},", other.sentence, layers_text(other.scenario));
    if (other.played && chosen.played->fits && !other.played->fits) return cut + " does not fit";
    const double step = other.played ? other.played->step_time_s : other.bound.step_time_s;
    const double longer = step / chosen.played->step_time_s - 1;
    if (other.played && longer <= 0) return cut + " takes as long";
    return fmt::format("{} takes {}{} longer", cut, other.played ? "" : "at least ",
                       text::percent(longer));
}

ChosenCut chosen_cut(const CutCandidate& chosen, const CutCandidate& other) {
    return {chosen.scenario.parallel.layers_per_stage,
            fmt::format("{}; {}", chosen.name, beside(chosen, other))};
}

}  // namespace

std::string ChosenCut::list() const {
    return fmt::format("[{}]", fmt::join(layers_per_stage, ", "));
}

PlayedCut choose_cut(const Scenario& scenario,
                     const std::function<Prediction(const Scenario&)>& play) {
    const std::vector<Scenario> cuts = cuts_to_choose_from(scenario);
    const Scenario& even = cuts.front();
    if (cuts.size() == 1)
        return {
            even, play(even), {even.parallel.layers_per_stage, "uniform, and by priced times too"}};
    std::array candidates{
        CutCandidate{even, "uniform", "the uniform cut", bound_of(even)},
        CutCandidate{cuts[1], "by priced times", "the cut by priced times", bound_of(cuts[1])}};
    CutCandidate& uniform = candidates[0];
    CutCandidate& priced = candidates[1];
    const bool priced_first = priced.bound.step_time_s < uniform.bound.step_time_s;
    CutCandidate& first = priced_first ? priced : uniform;
    CutCandidate& second = priced_first ? uniform : priced;
    first.played = play(first.scenario);
    if (!rules_out(first, second)) second.played = play(second.scenario);
    const auto is_priced_better = [&] {
        if (!uniform.played) return true;
        if (!priced.played) return false;
        if (uniform.played->fits != priced.played->fits) return priced.played->fits;
        return priced.played->step_time_s < uniform.played->step_time_s;
    };
    CutCandidate& chosen = is_priced_better() ? priced : uniform;
    const ChosenCut cut = chosen_cut(chosen, &chosen == &priced ? uniform : priced);
    return {std::move(chosen.scenario), std::move(*chosen.played), cut};
}

}  // namespace debubble::sim
