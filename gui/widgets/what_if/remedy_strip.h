#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <QFrame>

#include "gui/viewmodel/latest_wins.h"
#include "gui/viewmodel/what_if/answer.h"
#include "gui/viewmodel/what_if/remedies.h"

class QHBoxLayout;
class QLabel;

namespace debubble::gui {

/// Changes that would make the plan fit or possible, each with its cost; a click makes one. The
/// last button searches the grid for a plan that fits. Hidden if the plan fits.
class RemedyStrip : public QFrame {
    Q_OBJECT

public:
    explicit RemedyStrip(QWidget* parent = nullptr);
    ~RemedyStrip() override;

    /// Looks for remedies for this answer, in a worker, if it needs any.
    void look_for_remedies(const Answer& answer);
    void forget();

    /// Small, so that the neighbouring panels keep their width; buttons without room are cut off.
    QSize minimumSizeHint() const override { return {0, QFrame::minimumSizeHint().height()}; }

Q_SIGNALS:
    /// The user chose a remedy: the changed scenario, and the remedy's name for undo.
    void chosen(const debubble::gui::ScenarioText& changed, const QString& what);
    void search_wanted();  ///< another plan is to be searched
    void found();          ///< the remedies of the last answer are shown, if there are any

private:
    struct Question {
        ScenarioText source;
        std::optional<sim::Prediction> now;
    };
    struct Result {
        ScenarioText source;
        std::vector<Remedy> remedies;
    };
    void show_remedies(const Result& result);
    void clear();
    void add(const QString& words, const QString& tip, const std::function<void()>& act);

    ScenarioText asked_;
    QLabel* title_ = nullptr;
    QHBoxLayout* row_ = nullptr;
    std::unique_ptr<LatestWins<Question, Result>> worker_;  ///< last, since it calls back
};

}  // namespace debubble::gui
