#pragma once

#include <optional>

#include <QImage>
#include <QPalette>
#include <QWidget>

#include "gui/viewmodel/what_if/run_view.h"

namespace debubble::gui {

/// One drawn run from its first step to its last. Each column of pixels has the exact shares of the
/// causes of its time at any zoom; triangles are failures, and a close view shows single steps. The
/// wheel, or W and S, zoom; a drag, or A and D, moves; Home shows all.
class StripView : public QWidget {
    Q_OBJECT

public:
    explicit StripView(QWidget* parent = nullptr);

    void show_strip(std::optional<RunStrip> strip);
    const std::optional<RunStrip>& strip() const { return strip_; }
    /// The instants at both ends of the view, in seconds of the run.
    double from() const { return from_; }
    double to() const { return to_; }
    void show_range(double from, double to);

    QSize sizeHint() const override { return {600, 130}; }
    QSize minimumSizeHint() const override { return {240, 100}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    QRectF band() const;
    double instant_at(double x) const;
    double x_of(double instant) const;
    void zoom_at(double x, double factor);
    const QImage& columns();
    void paint_failures(QPainter& painter) const;
    void paint_steps(QPainter& painter) const;
    void paint_axis(QPainter& painter) const;
    void paint_legend(QPainter& painter) const;
    void say_range();

    std::optional<RunStrip> strip_;
    double from_ = 0;
    double to_ = 1;
    double dragged_from_ = 0;  ///< the instant under the pointer when a drag began
    QImage columns_;           ///< the visible range; a run has a hundred thousand spells
    QPalette columns_palette_;
};

}  // namespace debubble::gui
