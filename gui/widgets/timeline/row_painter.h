#pragma once

#include <map>

#include "gui/viewmodel/timeline/scene.h"
#include "gui/viewmodel/timeline/wording.h"
#include "gui/widgets/timeline/text_masks.h"

namespace debubble::gui {

/// Label fonts by pixel size, kept from frame to frame.
using LabelFonts = std::map<int, TextMasks>;

/// Paints the rows of a timeline into an image: bars, bubbles, memory, labels.
class RowPainter {
public:
    /// `axis` is in device pixels, of which `scale` make one of the layout's.
    RowPainter(const Scene& scene, const TimeAxis& axis, Theme theme, double scale,
               const QFont& font, LabelFonts& fonts);

    /// Paints a row. The canvas's left edge is the axis's; `dy` is added to the layout's y.
    void paint(const Canvas& canvas, const Row& row, int dy);

private:
    struct Labels {
        LabelForm form = LabelForm::None;
        int size = 0;  ///< size of the font, in the layout's pixels
    };
    Band scaled(Band band, int dy) const;
    void fill_gaps(const Canvas& canvas, const Row& row, int dy);
    void paint_work(const Canvas& canvas, Band band, const Layer& layer, const Device& device,
                    bool with_bubbles);
    void paint_errors(const Canvas& canvas, Band band, std::size_t device);
    void paint_halves(const Canvas& canvas, Band band, const DeviceColours& colours,
                      const TimeAxis& axis, const BarGround& ground);
    void paint_bubbles(const Canvas& canvas, Band band, const TimelineDocument& document,
                       const Device& device, const TimeAxis& axis);
    void paint_recomputes(const Canvas& canvas, Band band, const TimelineDocument& document,
                          const Bars& bars, const TimeAxis& axis);
    void paint_labels(const Canvas& canvas, Band band, const TimelineDocument& document,
                      const Device& device, const TimeAxis& axis);
    void paint_label(const Canvas& canvas, Band band, const Box& box, const Action& action,
                     const Labels& labels);
    void paint_streams(const Canvas& canvas, const Row& row, Side side, int dy);
    void paint_memory_lane(const Canvas& canvas, const Row& row, Side side, int dy);
    Rgb ink(Rgb under);
    TextMasks& masks_of_size(int size);
    Labels labels_for(Band band, const TimelineDocument& document, const Device& device,
                      const TimeAxis& axis);

    const Scene& scene_;
    const TimeAxis& axis_;
    Theme theme_;
    double scale_;
    int thin_;  ///< width of a hairline in device pixels
    QFont font_;
    LabelFonts& fonts_;
    std::map<std::uint32_t, Rgb> inks_;
};

}  // namespace debubble::gui
