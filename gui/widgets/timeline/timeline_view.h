#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <QAbstractScrollArea>
#include <QElapsedTimer>
#include <QImage>
#include <QTimer>

#include "gui/viewmodel/latest_wins.h"
#include "gui/viewmodel/timeline/hit.h"
#include "gui/viewmodel/timeline/pairing.h"
#include "gui/viewmodel/timeline/scene.h"
#include "gui/viewmodel/timeline/wording.h"
#include "gui/widgets/timeline/film.h"
#include "gui/widgets/timeline/geometry.h"
#include "gui/widgets/timeline/paint_frame.h"

namespace debubble::gui {

/// A timeline: a row per device with bars, bubbles and memory, and a map of the whole step.
///
/// Keys: W/S zoom, A/D pan, F centre the selection and then fit it, `.` and `,` the next and the
/// previous op, B the next bubble (Shift+B the one before), Enter the action that ends the selected
/// bubble, N the next hit of a search (Shift+N the one before), M mark, C critical path, Home all,
/// Esc clear, Space plays the step. Ctrl+wheel zooms at the pointer, Shift+drag pans, a drag
/// measures, and one along the ruler moves the cursor of the step that is played.
class TimelineView : public QAbstractScrollArea {
    Q_OBJECT

public:
    explicit TimelineView(QWidget* parent = nullptr);
    ~TimelineView() override;

    /// The most spans that are coloured at once; a worker colours more.
    static constexpr std::size_t kMostColouredHere = 100'000;

    /// Shows another plan, with the same view if possible.
    void set_document(Document document);
    /// Shows the previous plan, faint below the bars of this one; nullptr removes it.
    void set_ghost(Document document);

    /// Shows A above B on one axis. `pairing` pairs these two.
    void set_comparison(Document a, Document b, std::shared_ptr<const Pairing> pairing);

    /// What the last change did, for the head.
    void set_change(const QString& words, Verdict verdict);
    /// Pales everything while the plan that is shown is not the one that is asked for.
    void set_stale(bool stale);
    /// Highlights the spans of a part of the bill and pales the rest; without spans, shows all in
    /// full.
    void light(Highlight lit);

    const Scene& scene() const { return scene_; }
    const ViewState& state() const { return state_; }
    void set_state(ViewState state);

    /// The rectangle of a row on the screen; empty if it is not visible or not a row.
    QRect row_on_screen(std::size_t row) const;
    /// The details of the measured range, or else of the selection; empty without both.
    std::vector<Detail> details() const;
    /// A picture of any size, for exports.
    QImage picture(QSize size, double device_pixel_ratio);
    /// Paints the same as shapes and text; the painter's units are those of `size`.
    void paint_page(QPainter& painter, QSize size);
    /// The same as the text of an SVG file.
    std::string svg(QSize size);
    /// The visible part of the step as a film, for write_film(). An empty size means 1280 wide and
    /// as high as the rows, up to a limit.
    Film film(QSize size);
    /// The size of an export: wide enough for a page and at least as wide as on the screen, and
    /// exactly as high as all rows in their layout for that page.
    QSize export_size() const;

public Q_SLOTS:
    void zoom_in();
    void zoom_out();
    void fit();
    void next_op() { step_op(1); }
    void previous_op() { step_op(-1); }
    void next_bubble() { step_bubble(1); }
    void previous_bubble() { step_bubble(-1); }
    /// Selects the action that ends the selected bubble.
    void go_to_ending_action();
    /// Searches and selects the first hit; searched() reports the number of hits, or the mistake in
    /// the query.
    void search(const QString& query);
    void next_hit() { step_hit(1); }
    void previous_hit() { step_hit(-1); }
    void focus_selection();
    void toggle_critical_path();
    /// Scales memory lanes to the greatest held memory, or to the limit again.
    void toggle_memory_scale();
    void set_colour_by(debubble::gui::ColourBy by);
    void set_comparison_choices(const debubble::gui::ComparisonChoices& choices);
    void mark();
    /// Starts the cursor of the step from its position, or stops it.
    void toggle_play();
    void clear();
    void select(const debubble::gui::Selection& selection);
    /// Selects an action and moves it to the middle of the view.
    void show_action(const debubble::gui::SpanRef& action);
    /// Shows only the rows of these ranks and of pinned ones.
    void show_ranks(int first, int last);
    void show_every_rank();
    /// Shows or hides lanes for the use of every rank's links.
    void toggle_link_use();
    /// Folds runs of similar ranks into a row, or unfolds them.
    void toggle_folding();

Q_SIGNALS:
    void span_selected(const debubble::gui::Selection& selection);
    void peak_clicked(int rank);  ///< the dot of a rank's memory peak was clicked
    void range_measured(const debubble::gui::TimeRange& range);
    void searched(qulonglong hits, const QString& mistake);
    void state_changed();
    void coloured();  ///< the requested colours are shown

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool viewportEvent(QEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;

private:
    static constexpr double kZoomStep = 1.35;
    enum class Drag { None, Pending, Measure, Pan, Map, Cursor };
    struct ColourQuestion {
        Document main;
        Document other;
        ColourScheme scheme;
        ColourScheme other_scheme;
        std::optional<ColourScheme> errors;
    };
    struct Colours {
        Document main;
        Document other;
        std::shared_ptr<const Colouring> of_main;
        std::shared_ptr<const Colouring> of_other;
        std::shared_ptr<const Colouring> of_errors;
    };
    static Colours colours_of(const ColourQuestion& question);
    void take_colours(Colours made);

    Geometry geometry_of(QSize size) const { return {size, text_scale(look_.font)}; }
    Geometry geometry() const { return geometry_of(viewport()->size()); }
    double axis_x(QPointF at) const { return at.x() - geometry().gutter(); }
    Hit hit(QPointF at) const;
    bool is_in_gutter(QPointF at) const;
    const Row* row_at(QPointF at) const;
    Instant snapped(QPointF at) const;
    void lay_out_again();
    ColourQuestion colour_question() const;
    bool has_colours() const;
    void colour_again();
    void colour_now();
    void align_layers();
    void show_again();
    void forget_choices();
    ColourScheme scheme_of(Side side) const;
    QSize least_page() const;
    RowLayout layout_of_page() const;  ///< precondition: there is a document
    /// Calls paint() with the layout for another size.
    template <class Paint>
    void with_layout_for(QSize size, Paint&& paint);
    void changed();
    void zoom(double factor);
    void pan_to_map(double x);
    void step_op(int by);
    void step_bubble(int by);
    void step_hit(int by);
    void show_selected();
    void play_on();
    void scrub_to(QPointF at);
    void stop_playing();
    void click(QPointF at);
    QString tool_tip(QPointF at) const;
    void toggle(std::set<int>& ranks, int rank);

    Scene scene_;
    ViewState state_;
    Look look_;
    QImage image_;
    Drag drag_ = Drag::None;
    QPointF pressed_at_;
    QPointF dragged_to_;
    QPointF pointer_;
    QTimer play_timer_;
    QElapsedTimer played_at_;                                        ///< time of the previous frame
    std::unique_ptr<LatestWins<ColourQuestion, Colours>> colourer_;  ///< last, since it calls back
};

/// Lets screen readers find the ranks of a timeline as children of it, each with its name and where
/// its step goes, and after them the selection in words. Called once, before a timeline is made.
void make_timelines_accessible();

}  // namespace debubble::gui
