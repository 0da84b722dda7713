#pragma once

#include <QSlider>

#include "gui/viewmodel/what_if/run_view.h"

namespace debubble::gui {

/// The interval of saves as a slider below its curve: the useful share of the time at each
/// interval, for the same drawn failures. Home chooses the best one.
class IntervalSlider : public QSlider {
    Q_OBJECT

public:
    explicit IntervalSlider(QWidget* parent = nullptr);

    void show_curve(IntervalCurve curve);
    const IntervalCurve& curve() const { return curve_; }
    /// The position of the knob in words: "every 12 steps (86.9 s): 91.3 % useful".
    QString words() const;
    /// The position of a value, for tests and for the pointer.
    QPointF place(int value) const;

    QSize sizeHint() const override { return {360, 150}; }
    QSize minimumSizeHint() const override { return {200, 90}; }

Q_SIGNALS:
    void chosen(std::int64_t steps);  ///< the user left the knob there
    void best_chosen();

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;

private:
    QRectF plot() const;
    int value_at(double x) const;
    void choose();

    IntervalCurve curve_;
};

}  // namespace debubble::gui
