#include "sim/anchor/anchor.h"

#include <utility>

#include <fmt/format.h>

#include "sim/plan/plan_words.h"

namespace debubble::sim {
namespace {

constexpr const char* kNote = "--anchor";

}  // namespace

void correct_by(Grid& grid, std::shared_ptr<const AnchoredBy> anchor) {
    const auto text = [](const std::optional<double>& ratio) {
        return ratio ? fmt::format("{}", *ratio) : std::string("not measured");
    };
    grid.basis.emplace(kNote, fmt::format("{}, {}, {}, {}", whole_plan_of(anchor->scenario()),
                                          text(anchor->time_ratio()), text(anchor->memory_ratio()),
                                          anchor->least_ratio()));
    const double least = anchor->least_ratio();
    grid.correction = Correction{
        [anchor](const scenarios::Scenario& plan, Prediction& of) { anchor->correct(plan, of); },
        [by = std::move(anchor)](const scenarios::Scenario& plan, Prediction& of) {
            of.anchored = by->of(plan, of);
        },
        least};
}

void leave_uncorrected(Grid& grid) {
    grid.basis.emplace(kNote, "not given");
}

}  // namespace debubble::sim
