#pragma once

#include <memory>
#include <optional>

#include <QCoreApplication>
#include <QWidget>

#include "gui/viewmodel/timeline/scene.h"
#include "gui/viewmodel/timeline/wording.h"

class QLabel;
class QLineEdit;
class QTreeWidget;
class QTreeWidgetItem;

namespace debubble::gui {

struct PredictedPlan;
class TimelineView;

/// The selection or the measured range in words, and a search over the actions.
class DetailsPanel : public QWidget {
    Q_DECLARE_TR_FUNCTIONS(debubble::gui::DetailsPanel)

public:
    explicit DetailsPanel(TimelineView* timeline, QWidget* parent = nullptr);
    void focus_search();
    /// Sets the plan whose costs the details of actions contain; nullptr: none.
    void set_plan(std::shared_ptr<const PredictedPlan> plan);

private:
    void refresh();
    std::vector<Detail> details() const;
    std::vector<Detail> cost_of(const SpanRef& ref) const;
    void add(const Detail& detail, QTreeWidgetItem* parent);

    TimelineView* timeline_;
    QLineEdit* search_ = nullptr;
    QLabel* hits_ = nullptr;
    QTreeWidget* rows_ = nullptr;
    std::shared_ptr<const PredictedPlan> plan_;
    std::optional<std::vector<Detail>> shown_;
    /// The costs that were computed last, and the span that they belong to.
    mutable std::pair<Document, std::uint32_t> cost_of_;
    mutable std::vector<Detail> cost_;
};

}  // namespace debubble::gui
