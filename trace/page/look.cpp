#include "trace/page/page_json.h"

#include <array>
#include <cctype>
#include <string>

#include <nlohmann/json.hpp>

#include "base/overloaded.h"
#include "trace/picture/bubbles.h"
#include "trace/picture/legend.h"
#include "trace/picture/view.h"

namespace debubble::page {
namespace {

using Json = nlohmann::ordered_json;
using namespace picture;

constexpr std::array kThemes{Theme::Light, Theme::Dark};

const char* name_of_theme(Theme theme) {
    return theme == Theme::Light ? "light" : "dark";
}

Json ground_json(Theme theme) {
    const Ground& g = ground_of(theme);
    Json memory = Json::array();
    for (const Rgb colour : g.memory) memory.push_back(hex(colour));
    return {{"window", hex(g.window)},
            {"gutter", hex(g.gutter)},
            {"lane", hex(g.lane)},
            {"hatch", hex(g.hatch)},
            {"grid", hex(g.grid)},
            {"text", hex(g.text)},
            {"faint", hex(g.faint_text)},
            {"accent", hex(g.accent)},
            {"warning", hex(g.warning)},
            {"better", hex(g.better)},
            {"lasting", hex(g.memory_lasting)},
            {"edge", hex(g.memory_edge)},
            {"memory", std::move(memory)}};
}

Json causes_json(Theme theme) {
    Json causes = Json::array();
    for (std::size_t c = 0; c < kBubbleCauses; ++c) {
        const BubbleColours colours = bubble_colours(static_cast<BubbleCause>(c), theme);
        causes.push_back({hex(colours.ground), hex(colours.line), hex(colours.words)});
    }
    return causes;
}

Json theme_json(Theme theme) {
    Json paints = Json::array();
    for (std::size_t p = 0; p < kPaints; ++p)
        paints.push_back(hex(paint(static_cast<Paint>(p), theme)));
    const Hatch again = recompute_hatch(theme);
    return {{"ground", ground_json(theme)},
            {"paints", std::move(paints)},
            {"causes", causes_json(theme)},
            {"recompute", {hex(again.ink), again.thickness}}};
}

/// The entries of a legend, read from its shapes: swatches come before their words.
class LegendEntries {
public:
    explicit LegendEntries(double top) : top_(top) {}

    void add(const Shape& shape) {
        std::visit(Overloaded{
                       [&](const Area& area) { swatch_["fill"] = hex(area.fill); },
                       [&](const Hatch& hatch) {
                           swatch_["hatch"] = Json{hex(hatch.ink), hatch.thickness};
                       },
                       [&](const Line& line) { swatch_["line"] = hex(line.ink); },
                       [&](const Dot& dot) { swatch_["dot"] = hex(dot.fill); },
                       [&](const Text& text) {
                           if (text.at.y > top_) end(text.words);
                       },
                       [](const auto&) {},
                   },
                   shape);
    }
    Json entries = Json::array();

private:
    void end(const std::string& words) {
        swatch_["words"] = words;
        entries.push_back(std::move(swatch_));
        swatch_ = Json::object();
    }
    double top_;
    Json swatch_ = Json::object();
};

}  // namespace

Json look_json() {
    Json look{{"light", theme_json(Theme::Light)}, {"dark", theme_json(Theme::Dark)}};
    Json paints = Json::array();
    for (std::size_t p = 0; p < kPaints; ++p) paints.push_back(name_of(static_cast<Paint>(p)));
    Json causes = Json::array();
    for (std::size_t c = 0; c < kBubbleCauses; ++c) {
        const auto cause = static_cast<BubbleCause>(c);
        causes.push_back({name_of(cause), wording_of(cause)});
    }
    Json memory = Json::array();
    for (std::size_t c = 0; c < kMemoryClasses; ++c)
        memory.push_back(name_of(static_cast<MemoryClass>(c)));
    Json stacked = Json::array();
    for (const MemoryClass c : kStacked) stacked.push_back(static_cast<int>(c));
    Json kinds = Json::array();
    for (std::size_t k = 0; k < kCommunicationKinds; ++k) {
        std::string name(name_of(static_cast<CommunicationKind>(k)));
        if (static_cast<CommunicationKind>(k) != CommunicationKind::Host)
            for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        kinds.push_back(name);
    }
    const LabelFont font;
    look["words"] = {{"paints", paints},
                     {"causes", causes},
                     {"memory", memory},
                     {"stacked", stacked},
                     {"kinds", kinds}};
    look["font"] = {{"digit", font.digit}, {"smallest", font.smallest}, {"largest", font.largest}};
    look["hatch_period"] = kHatchPeriod;
    return look;
}

Json legend_json(const Timeline& timeline) {
    constexpr int kRoom = 1'000'000;  // no entry is left out
    Json themes;
    for (const Theme theme : kThemes) {
        View view;
        view.geometry.width = kRoom;
        view.theme = theme;
        LegendEntries legend(view.geometry.title_height());
        for (const Shape& shape : head_shapes(timeline, view)) legend.add(shape);
        themes[name_of_theme(theme)] = std::move(legend.entries);
    }
    return themes;
}

Json layouts_json(const Timeline& timeline) {
    constexpr std::array kHeights{14, 20, 28, 36, 44, 52, 60, 68, 76, 90, 110, 130, 150, 180};
    Json layouts = Json::array();
    const auto band = [](const Row& row, Band of) { return Json{of.y - row.whole.y, of.height}; };
    for (const int height : kHeights) {
        const std::size_t rows =
            lay_out(*timeline.main.document, {}, timeline.needs(), 0).rows.size();
        const RowLayout layout =
            lay_out(*timeline.main.document, {}, timeline.needs(), height * static_cast<int>(rows));
        if (layout.rows.empty()) break;
        const Row& row = layout.rows.front();
        if (!layouts.empty() && layouts.back()["height"] == row.whole.height) continue;
        layouts.push_back({{"height", row.whole.height},
                           {"bars", band(row, row.bars)},
                           {"links", band(row, row.links)},
                           {"memory", band(row, row.memory)},
                           {"heat", row.heat}});
    }
    return layouts;
}

}  // namespace debubble::page
