#pragma once

#include <memory>

#include <QTreeWidget>

#include "gui/viewmodel/latest_wins.h"
#include "gui/viewmodel/what_if/held_tensors.h"

class QTreeWidgetItem;

namespace debubble::gui {

/// What a rank holds at its peak: classes of memory, the actions that allocated it, and their
/// tensors, each with its stage, microbatch, birth and death. A worker plays the rank's step.
class TensorPanel : public QTreeWidget {
    Q_OBJECT

public:
    explicit TensorPanel(QWidget* parent = nullptr);
    ~TensorPanel() override;

    /// Lists the tensors of a rank of a plan; without a plan nothing can be listed.
    void list(std::shared_ptr<const PredictedPlan> plan, int rank);
    /// The same rank of another plan.
    void set_plan(std::shared_ptr<const PredictedPlan> plan);

Q_SIGNALS:
    void listed();

protected:
    void showEvent(QShowEvent* event) override;

private:
    struct Question {
        std::shared_ptr<const PredictedPlan> plan;
        int rank = 0;
    };
    struct Found {
        Question of;
        std::optional<HeldAtPeak> held;
    };
    void ask();
    void show_found(const Found& found);
    void add(const HeldRow& row, QTreeWidgetItem* parent, Bytes all);
    void say(const QString& words);

    Question question_;
    bool asked_ = false;
    std::unique_ptr<LatestWins<Question, Found>> worker_;  ///< last, since it calls back
};

}  // namespace debubble::gui
