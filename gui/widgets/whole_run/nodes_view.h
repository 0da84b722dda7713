#pragma once

#include <optional>
#include <vector>

#include <QString>
#include <QWidget>

#include "gui/viewmodel/what_if/run_view.h"

namespace debubble::gui {

/// Days and cost of a whole training over the number of GPUs, with the band of nine of ten drawn
/// runs around the days. Left and Right choose a point, Enter or a click takes its number of nodes.
class NodesView : public QWidget {
    Q_OBJECT

public:
    explicit NodesView(QWidget* parent = nullptr);

    /// `present` is the number of nodes of the plan on the screen.
    void show_points(std::vector<RunOnNodes> points, int present, const QString& currency);
    const std::vector<RunOnNodes>& points() const { return points_; }
    /// The position of a point's days, for tests and for the pointer.
    QPointF place(std::size_t point) const;

    QSize sizeHint() const override { return {460, 300}; }
    QSize minimumSizeHint() const override { return {240, 140}; }

Q_SIGNALS:
    void chosen(int nodes);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    /// An axis of figures, from 0 to a round number above all figures.
    struct Axis {
        double top = 1;
        double tick = 1;
    };
    bool has_cost() const;
    QRectF plot() const;
    double x_of(int gpus) const;
    double y_of(double figure, const Axis& axis) const;
    std::optional<std::size_t> point_at(QPointF at) const;
    QString words_of(const RunOnNodes& point) const;
    void paint_axes(QPainter& painter) const;
    void paint_days(QPainter& painter) const;
    void paint_cost(QPainter& painter) const;
    void say_chosen();

    std::vector<RunOnNodes> points_;
    Axis days_;
    Axis cost_;
    QString currency_;
    int present_ = 0;
    std::size_t chosen_ = 0;
};

}  // namespace debubble::gui
