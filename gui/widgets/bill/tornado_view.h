#pragma once

#include <memory>
#include <optional>

#include <QWidget>

#include "gui/viewmodel/latest_wins.h"
#include "gui/viewmodel/what_if/tornado.h"

namespace debubble::gui {

/// The dependence of the step on each constant of the machine: a bar from the step at half the
/// constant to the step at twice. A bar is a slider: dragging its knob to a step sets the constant
/// to the value that gives this step. Up and Down choose a bar, Left and Right move its knob.
class TornadoView : public QWidget {
    Q_OBJECT

public:
    explicit TornadoView(QWidget* parent = nullptr);
    ~TornadoView() override;

    /// Sets the text of the plan on the screen; empty: there is none.
    void set_scenario(const ScenarioText& source);

    const std::optional<Tornado>& tornado() const { return tornado_; }
    /// The position of a bar's knob, for tests and for the pointer.
    QPointF knob_of(std::size_t bar) const;
    /// The position of a step on a bar.
    QPointF place_of(std::size_t bar, double step_s) const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {200, 80}; }

Q_SIGNALS:
    /// The user changed a constant: the changed scenario, and the constant's name.
    void turned(const debubble::gui::ScenarioText& changed, const QString& what);
    void ready();  ///< the bars of the plan are shown

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    struct Result {
        ScenarioText source;
        std::optional<Tornado> tornado;
    };
    void ask();
    void take(Result result);
    QRectF bars() const;
    QRectF row(std::size_t bar) const;
    std::optional<std::size_t> bar_at(QPointF at) const;
    double x_of(double step_s) const;
    double factor_of(std::size_t bar) const { return bar == turned_ ? factor_ : 1; }
    void turn(std::size_t bar, double factor);
    QString changes_of(const TornadoBar& bar) const;
    void paint_bar(QPainter& painter, std::size_t bar) const;

    ScenarioText base_;   ///< the text whose constants have the factor 1
    ScenarioText asked_;  ///< the text whose bars are requested
    ScenarioText turned_text_;
    std::optional<Tornado> tornado_;
    std::optional<std::size_t> turned_;  ///< the bar whose factor is not 1
    double factor_ = 1;
    std::size_t chosen_ = 0;  ///< the bar that keys move
    bool dragging_ = false;
    std::unique_ptr<LatestWins<ScenarioText, Result>> worker_;  ///< last, since it calls back
};

}  // namespace debubble::gui
