#include "gui/viewmodel/remembered_view.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

namespace debubble::gui {
namespace {

using Json = nlohmann::json;

double share_of(const TimeRange& whole, Instant at) {
    return static_cast<double>((at - whole.begin).count()) /
           static_cast<double>(std::max<Duration::rep>(whole.length().count(), 1));
}

Instant at_share(const TimeRange& whole, double share) {
    const double length = static_cast<double>(whole.length().count());
    return whole.begin +
           Duration{static_cast<Duration::rep>(std::llround(std::clamp(share, 0.0, 1.0) * length))};
}

}  // namespace

std::string remembered(const ViewState& state) {
    const TimeRange whole = state.axis.whole();
    const TimeRange shown = state.axis.shown();
    std::vector<double> marks;
    for (const Instant mark : state.marks) marks.push_back(share_of(whole, mark));
    std::vector<int> only;
    if (state.rows.only) only = {state.rows.only->first, state.rows.only->second};
    return Json{{"shown", {share_of(whole, shown.begin), share_of(whole, shown.end)}},
                {"streams", state.rows.streams},
                {"replicas", state.rows.replicas},
                {"collapsed", state.rows.collapsed},
                {"pinned", state.rows.pinned},
                {"link_use", state.rows.link_use},
                {"all_link_use", state.rows.all_link_use},
                {"unfolded", state.rows.unfolded},
                {"fold_alike", state.rows.fold_alike},
                {"only", only},
                {"scroll", state.scroll},
                {"colour_by", static_cast<int>(state.colour_by)},
                {"critical_path", state.critical_path},
                {"marks", marks}}
        .dump();
}

ViewState recalled(const std::string& text, ViewState now) {
    const ViewState before = now;
    try {
        const Json kept = Json::parse(text);
        const TimeRange whole = now.axis.whole();
        const double begin = kept.at("shown").at(0);
        const double end = kept.at("shown").at(1);
        if (begin < end) now.axis.show({at_share(whole, begin), at_share(whole, end)});
        now.rows = {kept.at("streams"), kept.at("replicas"), kept.at("collapsed"),
                    kept.at("pinned")};
        now.rows.link_use = kept.value("link_use", std::set<int>{});
        now.rows.all_link_use = kept.value("all_link_use", false);
        now.rows.unfolded = kept.value("unfolded", std::set<int>{});
        now.rows.fold_alike = kept.value("fold_alike", true);
        const auto only = kept.value("only", std::vector<int>{});
        if (only.size() == 2 && only[0] <= only[1]) now.rows.only = {only[0], only[1]};
        now.scroll = std::max(kept.at("scroll").get<int>(), 0);
        const int by = kept.at("colour_by");
        if (0 <= by && by <= static_cast<int>(ColourBy::Error))
            now.colour_by = static_cast<ColourBy>(by);
        now.critical_path = kept.at("critical_path");
        now.marks.clear();
        for (const double mark : kept.at("marks")) now.marks.push_back(at_share(whole, mark));
        std::ranges::sort(now.marks);
    } catch (const Json::exception&) {
        return before;
    }
    return now;
}

}  // namespace debubble::gui
