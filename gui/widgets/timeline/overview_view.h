#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <QImage>
#include <QWidget>

#include "gui/viewmodel/latest_wins.h"
#include "gui/viewmodel/timeline/overview.h"

namespace debubble::gui {

/// All ranks of a timeline at once: a line of pixels each, with their memory at the right, and
/// brackets around similar neighbours. A brush over some lines shows only the rows of these ranks,
/// a click those of the band under it.
class OverviewView : public QWidget {
    Q_OBJECT

public:
    explicit OverviewView(QWidget* parent = nullptr);
    ~OverviewView() override;

    void set_document(Document document);
    const std::vector<RankBand>& bands() const { return bands_; }
    /// Marks the ranks with rows; nothing if all have them.
    void set_brush(std::optional<std::pair<int, int>> ranks);

Q_SIGNALS:
    void brushed(int first_rank, int last_rank);
    void drawn();

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void changeEvent(QEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;

private:
    struct Question {
        Document document;
        picture::Theme theme{};
        std::size_t width = 0;
        std::size_t memory_width = 0;
    };
    struct Drawn {
        Document document;
        OverviewPicture picture;
    };
    void ask();
    QRectF work() const;
    QRectF memory() const;
    QRectF line_of(int rank) const;
    void paint_brush(QPainter& painter, double a, double b);

    Document document_;
    std::vector<RankBand> bands_;
    QImage work_;
    QImage memory_;
    bool dragging_ = false;
    double pressed_ = 0;
    double dragged_ = 0;
    std::optional<std::pair<int, int>> brush_;             ///< ranks
    std::unique_ptr<LatestWins<Question, Drawn>> worker_;  ///< last, since it calls back
};

}  // namespace debubble::gui
