#pragma once

#include <memory>

#include <QTreeWidget>

#include "gui/viewmodel/latest_wins.h"
#include "gui/viewmodel/what_if/held_tensors.h"

class QTreeWidgetItem;

namespace debubble::gui {

/// The memory of a rank at its peak: classes, the actions that allocated it, and their tensors,
/// each with its stage, microbatch, allocation and free. A worker plays the rank's step.
class TensorPanel : public QTreeWidget {
    Q_OBJECT

public:
    explicit TensorPanel(QWidget* parent = nullptr);
    ~TensorPanel() override;

    /// Lists the tensors of a rank of a plan; nothing without a plan.
    void list(std::shared_ptr<const PredictedPlan> plan, int rank);
    /// Lists those of the same rank in another plan.
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
    struct Result {
        Question of;
        std::optional<HeldAtPeak> held;
    };
    void ask();
    void show_result(const Result& result);
    void add(const HeldRow& row, QTreeWidgetItem* parent, Bytes all);
    void say(const QString& words);

    Question question_;
    bool asked_ = false;
    std::unique_ptr<LatestWins<Question, Result>> worker_;  ///< last, since it calls back
};

}  // namespace debubble::gui
