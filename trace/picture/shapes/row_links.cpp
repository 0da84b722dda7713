#include "trace/picture/shapes/row_shapes.h"

/// The use of a rank's links over time: an area from 0 to their limit, which memory_marks() marks.
namespace debubble::picture {
void RowShapes::links(const Row& row, Side side) {
    const Band band = side == Side::A ? row.use : row.other_use;
    const Device* device = band.height > 0 ? timeline_.device(row, side) : nullptr;
    if (device == nullptr) return;
    const Lane where = lane(side, *device, band);
    const TimelineDocument& document = *where.layer.document;
    const Rect whole{0, double(band.y), width_, double(band.height)};
    const auto of = same_class(*timeline_.main.document, *row.links_of, document);
    if (!of) return box(whole, view_.ground().lane);
    const TimeAxis axis = where.axis.scaled(view_.means.columns);
    Steps curve{whole,
                {{{}, paint(Paint::PointToPoint, view_.theme)}},
                view_.ground().memory_edge,
                view_.ground().lane};
    const double high = band.height - kLimitRoom;
    for (const float share : link_use(document, *device, *of, axis))
        curve.levels[0].tops.push_back(static_cast<float>(band.bottom() - high * share));
    out_.emplace_back(std::move(curve));
}

}  // namespace debubble::picture
