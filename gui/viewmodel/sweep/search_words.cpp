#include "gui/viewmodel/sweep/search_words.h"

#include <vector>

#include <fmt/format.h>

#include "sim/grid/not_apart.h"
#include "text/wording.h"

namespace debubble::gui {
namespace {

/// "116 played, 300 too slow and 200 too big by their bounds, 104 impossible".
std::string ruled_out(const sim::SearchResult& found) {
    std::string words =
        fmt::format("{} played, {} too slow and {} too big by their bounds, {} impossible",
                    found.predicted, found.too_slow, found.too_big, found.impossible);
    if (found.lacking > 0)
        words +=
            fmt::format(", {} of schedules that the framework's software lacks", found.lacking);
    return words;
}

}  // namespace

std::string search_words(const sim::SearchResult& found, const std::string& plan,
                         std::span<const std::string> keys) {
    if (!found.best)
        return fmt::format("No plan of {} {}fits: {}.", found.points,
                           found.finished ? "" : "so far ", ruled_out(found));
    std::vector<const sim::SweepRow*> rows;
    for (const sim::SweepRow& row : found.played) rows.push_back(&row);
    const std::size_t near = sim::not_apart_from_best(rows, keys).plans;
    std::string words = fmt::format(
        "Best of {} plans{}: {} tokens/s by {}. {}.", found.points, found.finished ? "" : " so far",
        text::rate_text(found.best->figure("tokens_per_s")), plan, ruled_out(found));
    if (near > 0)
        words += fmt::format(" {} other{} not apart from it by the error of predictions.", near,
                             near == 1 ? " is" : "s are");
    return words;
}

}  // namespace debubble::gui
