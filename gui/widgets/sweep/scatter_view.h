#pragma once

#include <functional>
#include <optional>
#include <vector>

#include <QColor>
#include <QImage>
#include <QPalette>
#include <QWidget>

#include "gui/viewmodel/sweep/plot_range.h"
#include "gui/viewmodel/sweep/sweep_table.h"

namespace debubble::gui {

/// Any two figures of a sweep against each other: plans that fit, plans that are out of memory
/// (crossed out), and the Pareto frontier.
///
/// The wheel zooms at the pointer, outside the plot only the axis there; a drag zooms into its
/// rectangle, Shift+drag moves, and a double click or Home shows all.
class ScatterView : public QWidget {
    Q_OBJECT

public:
    explicit ScatterView(QWidget* parent = nullptr);

    struct Axis {
        QString title;
        Better better = Better::Neither;
        double unit = 1;                   ///< unit by which figures are divided
        std::optional<double> limit = {};  ///< drawn as a line; in the figures' own unit
    };
    void show_points(std::vector<PlotPoint> points, Axis x, Axis y);
    void select_row(std::optional<std::size_t> row);
    /// The plan of a row in words, for tips.
    std::function<QString(std::size_t)> words_of_row;
    /// The row of the open plan; nothing if there is none.
    void mark_row(std::optional<std::size_t> row);
    /// The colour of each row, by a value of its plan; empty: one colour for all.
    void colour_rows(std::vector<QColor> colours);
    /// Whether the points are of another scenario than the open one, and pale.
    void set_stale(bool stale);
    const std::vector<std::size_t>& frontier() const { return frontier_; }
    std::size_t point_count() const { return points_.size(); }

    /// Resets the zoom to all points.
    void show_all() { show_ranges(x_whole_, y_whole_); }
    bool shows_all() const { return x_range_ == x_whole_ && y_range_ == y_whole_; }

    /// The position of a point, for tests and for the pointer.
    QPointF place(const PlotPoint& point) const;

    QSize sizeHint() const override { return {360, 240}; }

Q_SIGNALS:
    void chosen(std::size_t row);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    enum class Drag { None, Pending, Zoom, Move };
    QRectF plot() const;
    std::optional<std::size_t> point_at(QPointF at) const;  ///< index in points_
    void paint_axes(QPainter& painter) const;
    void paint_points(QPainter& painter) const;
    void paint_limit(QPainter& painter) const;
    const QImage& plan_layer();
    void paint_frontier(QPainter& painter) const;
    void paint_drag(QPainter& painter) const;
    void show_ranges(PlotRange x, PlotRange y);
    double x_at(double x) const { return x_range_.at((x - plot().left()) / plot().width()); }
    double y_at(double y) const { return y_range_.at((plot().bottom() - y) / plot().height()); }

    std::vector<PlotPoint> points_;
    std::vector<std::size_t> frontier_;
    Axis x_;
    Axis y_;
    PlotRange x_range_;  ///< visible range
    PlotRange y_range_;
    PlotRange x_whole_;  ///< range of all points
    PlotRange y_whole_;
    Drag drag_ = Drag::None;
    QPointF pressed_at_;
    QPointF dragged_to_;
    std::optional<std::size_t> selected_;
    std::optional<std::size_t> marked_;
    std::vector<QColor> colours_;
    bool stale_ = false;
    QImage layer_;  ///< axes and points: painting ten thousand takes longer than a frame may
    QPalette layer_palette_;
};

}  // namespace debubble::gui
