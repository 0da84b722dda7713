#pragma once

#include <memory>
#include <optional>
#include <string>

#include <QTreeWidget>

#include "gui/viewmodel/latest_wins.h"
#include "gui/viewmodel/what_if/answer.h"
#include "sim/bill_rows.h"

namespace debubble::gui {

/// Where the step goes: a waterfall from the step of perfect kernels to the real one, with the step
/// if each part of it were free. It is made anew, by a worker, when it is seen and the plan is
/// another one.
class BillPanel : public QTreeWidget {
    Q_OBJECT

public:
    explicit BillPanel(QWidget* parent = nullptr);
    ~BillPanel() override;

    /// Sets the plan that is on the screen; nullptr: none.
    void set_plan(std::shared_ptr<const PredictedPlan> plan);

Q_SIGNALS:
    void made_rows();  ///< the rows of the plan are there

protected:
    void showEvent(QShowEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    using Plan = std::shared_ptr<const PredictedPlan>;
    struct Made {
        Plan plan;
        std::vector<sim::BillRow> rows;
        std::string mistake;
    };
    static Made made_of(const Plan& plan, const std::stop_token& stop);
    void ask();
    void take(const Made& made);
    void say(const QString& words);

    Plan plan_;
    Plan asked_;
    std::unique_ptr<LatestWins<Plan, Made>> worker_;  ///< last, since it calls back
};

}  // namespace debubble::gui
