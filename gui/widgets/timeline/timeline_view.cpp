#include "gui/widgets/timeline/timeline_view.h"

#include <algorithm>
#include <cmath>

#include <QEvent>
#include <QPainter>
#include <QScrollBar>

#include "gui/viewmodel/timeline/measure.h"

namespace debubble::gui {
namespace {

constexpr int kFilmWidth = 1280;
constexpr int kFilmHeight = 720;

Theme theme_of(const QPalette& palette) {
    return palette.color(QPalette::Window).lightness() < 128 ? Theme::Dark : Theme::Light;
}

}  // namespace

TimelineView::TimelineView(QWidget* parent) : QAbstractScrollArea(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);  // the map shows the position of the view
    setAccessibleName(tr("Timeline"));
    setMinimumSize(360, 140);
    viewport()->setMouseTracking(true);
    viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
    look_.theme = theme_of(palette());
    look_.font = font();
    connect(&play_timer_, &QTimer::timeout, this, &TimelineView::play_on);
    colourer_ = std::make_unique<LatestWins<ColourQuestion, Colours>>(
        [](const ColourQuestion& question, const std::stop_token&) { return colours_of(question); },
        [this](Colours made) {
            QMetaObject::invokeMethod(
                this, [this, made = std::move(made)]() mutable { take_colours(std::move(made)); },
                Qt::QueuedConnection);
        });
}

TimelineView::~TimelineView() = default;

void TimelineView::set_document(Document document) {
    scene_.main = {std::move(document), nullptr, {}};
    if (scene_.comparison) scene_.other = {};
    scene_.comparison = false;
    scene_.pairing = nullptr;
    forget_choices();
    show_again();
}

void TimelineView::set_ghost(Document document) {
    if (scene_.comparison) forget_choices();
    scene_.other = {std::move(document), nullptr, {}};
    scene_.comparison = false;
    scene_.pairing = nullptr;
    show_again();
}

void TimelineView::set_comparison(Document a, Document b, std::shared_ptr<const Pairing> pairing) {
    scene_.main = {std::move(a), nullptr, {}};
    scene_.other = {std::move(b), nullptr, {}};
    scene_.comparison = true;
    scene_.pairing = std::move(pairing);
    forget_choices();
    show_again();
}

void TimelineView::set_change(const QString& words, Verdict verdict) {
    scene_.change = {words.toStdString(), verdict};
    viewport()->update();
}

void TimelineView::toggle_memory_scale() {
    scene_.own_memory_scale = !scene_.own_memory_scale;
    changed();
}

void TimelineView::set_stale(bool stale) {
    if (scene_.stale == stale) return;
    scene_.stale = stale;
    viewport()->update();
}

/// Forgets choices that refer to the previous document.
void TimelineView::forget_choices() {
    state_.selection = {};
    state_.measured.reset();
    scene_.hits.clear();
    scene_.lit = {};
    stop_playing();
}

void TimelineView::show_again() {
    align_layers();
    colour_again();
    lay_out_again();
    changed();
}

/// Aligns the other layer, and sets the whole range of the axis.
void TimelineView::align_layers() {
    if (!scene_.main) return;
    const TimelineDocument& document = *scene_.main.document;
    if (scene_.comparison)
        scene_.other.shift = shift_of(document, *scene_.other.document, *scene_.pairing,
                                      state_.comparison.alignment, state_.selection);
    else if (scene_.other)
        scene_.other.shift = document.range.begin - scene_.other.document->range.begin;
    state_.axis.resize(geometry().lanes_width());
    state_.axis.set_whole(scene_.range());
}

void TimelineView::lay_out_again() {
    scene_.layout = {};
    if (!scene_.main) return;
    const int height = geometry().lanes_height();
    scene_.layout = lay_out(*scene_.main.document, state_.rows, scene_.needs(), height);
    verticalScrollBar()->setRange(0, std::max(0, scene_.layout.height - height));
    verticalScrollBar()->setPageStep(height);
    verticalScrollBar()->setSingleStep(24);
    state_.scroll = verticalScrollBar()->value();
}

void TimelineView::changed() {
    viewport()->update();
    if (const QString words = QString::fromStdString(spoken(details()));
        words != accessibleDescription())
        setAccessibleDescription(words);
    Q_EMIT state_changed();
}

void TimelineView::set_state(ViewState state) {
    const bool other_colours = state.colour_by != state_.colour_by ||
                               state.critical_path != state_.critical_path ||
                               state.comparison != state_.comparison;
    state_ = std::move(state);
    // The state may belong to another document, and its selection may not exist here.
    if (!range_of(scene_, state_.selection)) state_.selection = {};
    align_layers();
    if (other_colours) colour_again();
    const int scroll = state_.scroll;
    lay_out_again();
    verticalScrollBar()->setValue(scroll);
    changed();
}

QRect TimelineView::row_on_screen(std::size_t row) const {
    if (row >= scene_.layout.rows.size()) return {};
    const Row& of = scene_.layout.rows[row];
    const QRect place(0, geometry().y_of(of, of.whole.y, state_.scroll), viewport()->width(),
                      of.whole.height);
    const QRect seen = place.intersected(viewport()->rect());
    return seen.isEmpty() ? QRect() : QRect(viewport()->mapToGlobal(seen.topLeft()), seen.size());
}

std::vector<Detail> TimelineView::details() const {
    if (!scene_.main) return {};
    if (state_.measured) return details_of_range(scene_, state_);
    return details_of(scene_, state_.selection);
}

template <class Paint>
void TimelineView::with_layout_for(QSize size, Paint&& paint) {
    if (scene_.main && !has_colours()) colour_now();
    const ViewState before = state_;
    const RowLayout layout = scene_.layout;
    const Geometry drawn = geometry_of(size);
    state_.axis.resize(drawn.lanes_width());
    // On a page as high as its rows, the rows keep their height.
    if (scene_.main)
        scene_.layout = size == export_size() ? layout_of_page()
                                              : lay_out(*scene_.main.document, state_.rows,
                                                        scene_.needs(), drawn.lanes_height());
    state_.scroll =
        std::clamp(state_.scroll, 0, std::max(0, scene_.layout.height - drawn.lanes_height()));
    paint();
    state_ = before;
    scene_.layout = layout;
}

QImage TimelineView::picture(QSize size, double ratio) {
    QImage image(size * ratio, QImage::Format_RGB32);
    image.setDevicePixelRatio(ratio);
    with_layout_for(size, [&] { paint_frame(image, scene_, state_, look_); });
    return image;
}

void TimelineView::paint_page(QPainter& painter, QSize size) {
    with_layout_for(size, [&] { gui::paint_page(painter, size, scene_, state_, look_); });
}

std::string TimelineView::svg(QSize size) {
    std::string text;
    with_layout_for(size, [&] { text = svg_of(size, scene_, state_, look_); });
    return text;
}

Film TimelineView::film(QSize size) {
    if (size.isEmpty()) {
        size = {kFilmWidth, kFilmHeight};
        const Geometry drawn = geometry_of(size);
        if (scene_.main)
            size.setHeight(std::clamp(drawn.top() + lay_out(*scene_.main.document, state_.rows,
                                                            scene_.needs(), drawn.lanes_height())
                                                        .height,
                                      kFilmHeight / 2, 2 * kFilmHeight));
    }
    Look look;
    look.theme = look_.theme;
    look.font = look_.font;
    Film film;
    with_layout_for(size, [&] { film = {scene_, state_, look, size}; });
    return film;
}

QSize TimelineView::least_page() const {
    return viewport()->size().expandedTo({1920, 1080});
}

RowLayout TimelineView::layout_of_page() const {
    return lay_out(*scene_.main.document, state_.rows, scene_.needs(),
                   geometry_of(least_page()).lanes_height());
}

QSize TimelineView::export_size() const {
    const QSize page = least_page();
    if (!scene_.main) return page;
    return {page.width(), geometry_of(page).top() + layout_of_page().height};
}

void TimelineView::paintEvent(QPaintEvent*) {
    const double ratio = viewport()->devicePixelRatioF();
    const QSize size = viewport()->size() * ratio;
    if (image_.size() != size || image_.devicePixelRatio() != ratio) {
        image_ = QImage(size, QImage::Format_RGB32);
        image_.setDevicePixelRatio(ratio);
    }
    paint_frame(image_, scene_, state_, look_);
    QPainter painter(viewport());
    painter.drawImage(0, 0, image_);
}

void TimelineView::resizeEvent(QResizeEvent*) {
    state_.axis.resize(geometry().lanes_width());
    lay_out_again();
}

void TimelineView::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange) {
        look_.theme = theme_of(palette());
        colour_again();
    }
    if (event->type() == QEvent::FontChange) {
        look_.font = font();
        look_.label_fonts = {};
        state_.axis.resize(geometry().lanes_width());
        lay_out_again();
    }
    viewport()->update();
    QAbstractScrollArea::changeEvent(event);
}

void TimelineView::scrollContentsBy(int, int) {
    state_.scroll = verticalScrollBar()->value();
    changed();
}

/// Zooms at the pointer if it is over the lanes, else at the middle.
void TimelineView::zoom(double factor) {
    const bool pointed = viewport()->underMouse() && geometry().lanes().contains(pointer_);
    state_.axis.zoom(factor, pointed ? axis_x(pointer_) : state_.axis.width() / 2);
    changed();
}

void TimelineView::zoom_in() {
    zoom(kZoomStep);
}
void TimelineView::zoom_out() {
    zoom(1 / kZoomStep);
}

void TimelineView::fit() {
    state_.axis.fit();
    if (state_.rows.only) return show_every_rank();
    changed();
}

void TimelineView::focus_selection() {
    const auto range = state_.measured ? state_.measured : range_of(scene_, state_.selection);
    if (!range) return fit();
    // The first call centres the selection; the second one fits it into the window.
    const TimeAxis before = state_.axis;
    const Duration half = state_.axis.shown().length() / 2;
    const Instant middle = range->begin + range->length() / 2;
    state_.axis.show({middle - half, middle + half});
    const double moved = before.x(state_.axis.shown().begin);
    if (std::abs(moved) < 1)
        state_.axis.show({range->begin - range->length() / 4, range->end + range->length() / 4});
    changed();
}

void TimelineView::set_comparison_choices(const ComparisonChoices& choices) {
    ViewState state = state_;
    state.comparison = choices;
    set_state(std::move(state));
}

}  // namespace debubble::gui
