#pragma once

#include <vector>

#include <QWidget>

namespace debubble::gui {

/// One figure over the steps of a run, with its least and greatest value in each column of pixels.
class CurveView : public QWidget {
public:
    CurveView(const QString& title, QWidget* parent = nullptr);
    void show_values(std::vector<double> values);
    QSize sizeHint() const override { return {260, 120}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QString title_;
    std::vector<double> values_;
};

}  // namespace debubble::gui
