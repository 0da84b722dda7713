#include "gui/viewmodel/sweep/sweep_run.h"

#include <vector>

#include <fmt/format.h>

#include "gui/viewmodel/timeline/words.h"
#include "sim/grid/compare_plans.h"
#include "text/wording.h"

namespace debubble::gui {
namespace {

/// "116 played, 300 too slow and 200 too big by their bounds, 104 impossible".
std::string ruled_out(const sim::SearchResult& found) {
    std::string words = filled(
        said("sweep", "{} played, {} too slow and {} too big by their bounds, {} impossible"),
        found.predicted, found.too_slow, found.too_big, found.impossible);
    if (found.lacking > 0)
        words += filled(said("sweep", ", {} of schedules that the framework's software lacks"),
                        found.lacking);
    return words;
}

}  // namespace

std::string search_words(const sim::SearchResult& found, const std::string& plan,
                         std::span<const std::string> keys) {
    if (!found.best)
        return found.finished ? filled(said("sweep", "No plan of {} fits: {}."), found.points,
                                       ruled_out(found))
                              : filled(said("sweep", "No plan of {} so far fits: {}."),
                                       found.points, ruled_out(found));
    std::vector<const sim::SweepRow*> rows;
    for (const sim::SweepRow& row : found.played) rows.push_back(&row);
    const std::size_t near = sim::not_apart_from_best(rows, keys).plans;
    const std::string rate = text::rate_text(found.best->figure("tokens_per_s"));
    std::string words =
        found.finished ? filled(said("sweep", "Best of {} plans: {} tokens/s by {}. {}."),
                                found.points, rate, plan, ruled_out(found))
                       : filled(said("sweep", "Best of {} plans so far: {} tokens/s by {}. {}."),
                                found.points, rate, plan, ruled_out(found));
    if (near == 1)
        words += said("sweep", " 1 other is not apart from it by the error of predictions.");
    if (near > 1)
        words += filled(
            said("sweep", " {} others are not apart from it by the error of predictions."), near);
    return words;
}

}  // namespace debubble::gui
