#pragma once

#include <array>

#include "tests/gui/viewmodel/timeline/plans.h"
#include "trace/picture/shapes/page_shapes.h"
#include "trace/picture/shapes/row_shapes.h"

namespace debubble::gui {

inline constexpr std::array kThemes{Theme::Light, Theme::Dark};

/// A document on a page as the painters get it.
struct Drawn {
    explicit Drawn(Document document, int width = 1000) {
        timeline.main = {std::move(document), nullptr, {}};
        timeline.main.colouring = colour(*timeline.main.document, {});
        timeline.layout = lay_out(*timeline.main.document, {}, timeline.needs(), 400);
        view.geometry = {width, page_height(timeline, width)};
        view.axis = TimeAxis(timeline.range(), view.geometry.lanes_width());
    }
    Sheets rows() const { return row_sheets(timeline, view); }
    template <class Kind>
    std::vector<Kind> all() const {
        std::vector<Kind> found;
        for (const Sheet& sheet : rows())
            for (const Shape& shape : sheet.shapes)
                if (const auto* kind = std::get_if<Kind>(&shape)) found.push_back(*kind);
        return found;
    }

    Timeline timeline;
    View view;
};

}  // namespace debubble::gui
