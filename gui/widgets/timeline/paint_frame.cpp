#include "gui/widgets/timeline/paint_frame.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <thread>
#include <vector>

#include <QFontInfo>
#include <QFontMetricsF>
#include <QPainter>

#include "gui/viewmodel/timeline/overlays.h"
#include "gui/widgets/timeline/geometry.h"
#include "gui/widgets/timeline/raster_painter.h"
#include "trace/picture/shapes/page_shapes.h"
#include "trace/picture/shapes/row_shapes.h"
#include "trace/picture/shapes/svg.h"

namespace debubble::gui {
namespace {

constexpr std::size_t kWorthSharing = 1'000'000;  ///< pixels, which take some 3 ms
constexpr double kPageColumns = 2;      ///< columns of blended lanes for each unit of a page
constexpr int kSmallestOnPage = 5;      ///< small, since a page can be enlarged
constexpr double kStaleVeil = 0.45;     ///< opacity over lanes of an outdated plan
constexpr double kMostOnPage = 40'000;  ///< most bars of all rows that are drawn singly

const std::vector<float>& utilisation_for(const Scene& scene, const TimeAxis& whole, Look& look) {
    const Layer& main = scene.main;
    const auto columns = static_cast<std::size_t>(std::lround(whole.width()));
    if (look.utilisation_of != main.colouring || look.utilisation.size() != columns ||
        look.utilisation_range != whole.whole()) {
        look.utilisation =
            main.colouring ? utilisation(*main.document, *main.colouring, whole.shifted(main.shift))
                           : std::vector<float>(columns);
        look.utilisation_of = main.colouring;
        look.utilisation_range = whole.whole();
    }
    return look.utilisation;
}

/// Width of a digit in font sizes.
double digit_of(const QFont& font) {
    constexpr int kSize = 100;
    QFont large = font;
    large.setPixelSize(kSize);
    return QFontMetricsF(large).horizontalAdvance(QLatin1Char('0')) / kSize;
}

}  // namespace

double text_scale(const QFont& font) {
    constexpr double kUsualPixels = 12;
    constexpr double kMost = 2.5;  // a limit that leaves room for the lanes
    return std::clamp(QFontInfo(font).pixelSize() / kUsualPixels, 1.0, kMost);
}

namespace {

View view_of(QSize size, const Scene& scene, const ViewState& state, Look& look) {
    View view{Geometry(size, text_scale(look.font)), state.axis, state.scroll, look.theme,
              state.colour_by};
    // Without pairs there are no errors.
    if (view.colour_by == ColourBy::Error && !scene.pairing) view.colour_by = ColourBy::Kind;
    view.means.labels.digit = digit_of(look.font);
    view.means.labels.smallest = view.geometry.scaled(view.means.labels.smallest);
    view.means.labels.largest = view.geometry.scaled(view.means.labels.largest);
    if (scene.main) {
        const TimeAxis whole(state.axis.whole(), view.geometry.lanes_width());
        view.utilisation = &utilisation_for(scene, whole, look);
    }
    return view;
}

View view_of_page(QSize size, const Scene& scene, const ViewState& state, Look& look) {
    View view = view_of(size, scene, state, look);
    view.means.columns = kPageColumns;
    const double rows = std::max<double>(static_cast<double>(scene.layout.rows.size()), 1);
    view.means.most_boxes =
        static_cast<std::size_t>(std::min(view.axis.width(), kMostOnPage / rows));
    view.means.labels.smallest = view.geometry.scaled(kSmallestOnPage);
    return view;
}

/// The visible rows. Pinned rows hide the rows that scroll under them.
class Rows {
public:
    Rows(const Canvas& canvas, const Scene& scene, const View& view, double ratio)
        : scene_(scene), view_(view), ratio_(ratio), labels_(label_style(scene, view)) {
        const auto below = [&](double y) {
            const int cut = std::min(static_cast<int>(std::lround(y * ratio)), canvas.height);
            return Canvas{canvas.line(cut), canvas.width, canvas.height - cut, canvas.stride};
        };
        pinned_ = below(view.geometry.top());
        scrolled_ = below(view.geometry.top() + scene.layout.pinned_height);
        for (const Row& row : scene.layout.rows)
            if (view.shows(scene, row)) shown_.push_back(&row);
    }

    std::size_t count() const { return shown_.size(); }

    /// Paints every `step`th row from `first` on. No two rows share a pixel.
    void paint(RasterPainter painter, std::size_t first, std::size_t step) const {
        RowShapes shapes(scene_, view_, labels_);
        for (std::size_t i = first; i < shown_.size(); i += step) {
            const Row& row = *shown_[i];
            const int scroll = -view_.scroll - scene_.layout.pinned_height;
            painter.paint(row.pinned ? pinned_ : scrolled_, shapes.of(row),
                          row.pinned ? 0 : scroll);
        }
    }

private:
    const Scene& scene_;
    const View& view_;
    double ratio_;
    LabelStyle labels_;
    Canvas pinned_;
    Canvas scrolled_;
    std::vector<const Row*> shown_;
};

void paint_rows(const Canvas& canvas, const Scene& scene, const View& view, double ratio,
                Look& look) {
    const Rows rows(canvas, scene, view, ratio);
    const auto paint = [&](std::size_t part, std::size_t parts) {
        rows.paint(RasterPainter(ratio, look.font, look.label_fonts[part]), part, parts);
    };
    const auto pixels =
        static_cast<std::size_t>(canvas.width) * static_cast<std::size_t>(canvas.height);
    if (rows.count() > 1 && pixels > kWorthSharing) {
        const std::jthread other(paint, 1, 2);
        paint(0, 2);
    } else {
        paint(0, 1);
    }
}

/// Fills the pixels that no row covers.
void paint_ground(const Canvas& canvas, const Scene& scene, const View& view, double ratio) {
    const auto pixels = [&](double of) { return static_cast<int>(std::lround(of * ratio)); };
    const int left = pixels(view.geometry.gutter());
    const int head = pixels(view.geometry.map_top());
    const Rgb window = view.ground().window;
    fill(canvas, 0, canvas.width, {0, head}, window);
    fill(canvas, 0, left, {head, canvas.height - head}, view.ground().gutter);
    const int rows_height = scene.main ? scene.layout.height - view.scroll : 0;
    const int below = std::max(pixels(view.geometry.top() + rows_height) - 1, head);
    fill(canvas, left, canvas.width, {head, pixels(view.geometry.top()) - head}, window);
    fill(canvas, left, canvas.width, {below, canvas.height - below}, window);
}

}  // namespace

void paint_frame(QImage& image, const Scene& scene, const ViewState& state, Look& look) {
    const double ratio = image.devicePixelRatio();
    View view = view_of(image.deviceIndependentSize().toSize(), scene, state, look);
    view.means.columns = ratio;
    view.means.background = true;
    const Canvas canvas{reinterpret_cast<std::uint32_t*>(image.bits()), image.width(),
                        image.height(), image.bytesPerLine() / 4};
    paint_ground(canvas, scene, view, ratio);
    const int left = static_cast<int>(std::lround(view.geometry.gutter() * ratio));
    if (!scene.main || left >= canvas.width) return;
    paint_rows(canvas.from(left), scene, view, ratio, look);
    QPainter painter(&image);
    painter.setFont(look.font);
    paint_sheets(painter, memory_marks(scene, view));
    paint_sheets(painter, overlays(scene, state, view));
    if (scene.stale) {
        const Rect lanes = view.geometry.lanes();
        paint_sheets(painter, {Sheet{lanes, {}, {Area{lanes, view.ground().window, kStaleVeil}}}});
    }
    paint_sheets(painter, surroundings(scene, view));
    paint_sheets(painter, marks_above(scene, state, view));
}

void paint_page(QPainter& painter, QSize size, const Scene& scene, const ViewState& state,
                Look& look) {
    painter.setFont(look.font);
    paint_sheets(painter, picture_of(scene, state, view_of_page(size, scene, state, look)));
}

std::string svg_of(QSize size, const Scene& scene, const ViewState& state, Look& look) {
    View view = view_of_page(size, scene, state, look);
    view.means.tips = true;
    view.means.columns = 1;
    view.means.labels.digit = LabelFont().digit;  // the file names its own font, not the widget's
    std::ostringstream out;
    write_svg(picture_of(scene, state, view), size.width(), size.height(), out);
    return std::move(out).str();
}

}  // namespace debubble::gui
