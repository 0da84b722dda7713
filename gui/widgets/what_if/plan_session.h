#pragma once

#include <deque>
#include <memory>
#include <string>

#include <QObject>
#include <QTimer>

#include "gui/viewmodel/latest_wins.h"
#include "gui/viewmodel/what_if/answer.h"
#include "gui/viewmodel/what_if/history.h"

namespace debubble::gui {

/// The open scenario, its history and its predictions. A worker predicts every change, kDebounce
/// after the last key stroke.
class PlanSession : public QObject {
    Q_OBJECT

public:
    explicit PlanSession(QObject* parent = nullptr);

    static constexpr int kDebounce = 50;  ///< milliseconds

    const History& history() const { return history_; }
    /// The answer to the present text, including its mistakes; to an older text while the worker
    /// runs.
    const Answer& answer() const { return answer_; }
    bool is_busy() const { return busy_; }
    /// The plan for comparison: the pinned one, or the one before the last change.
    std::shared_ptr<const PredictedPlan> reference() const;
    bool is_pinned() const { return pinned_ != nullptr; }
    const std::string& last_changed() const { return last_changed_; }

public Q_SLOTS:
    /// Starts with another scenario and a new history.
    void start(const debubble::gui::ScenarioText& source);
    /// Sets one field of the panel.
    void set_field(const QString& key, const QString& value);
    /// Sets the typed text.
    void set_text(const QString& text);
    /// Sets several keys of `ground` at once, such as those of a point of its sweep.
    void set_keys(const ScenarioText& ground,
                  const std::vector<debubble::scenarios::Override>& keys, const QString& what);
    void undo();
    void redo();
    void pin(bool on);
    void saved(const QString& file);

Q_SIGNALS:
    void text_changed();  ///< history() has changed; the answer follows
    void answered();
    void refused(const QString& message);  ///< no text can have a field's value

private:
    void change(ScenarioText source, const std::string& what);
    void moved();
    void take(Answer answer);

    History history_;
    Answer answer_;
    /// Plans by their text.
    std::deque<std::pair<std::string, std::shared_ptr<const PredictedPlan>>> recent_;
    std::shared_ptr<const PredictedPlan> pinned_;
    std::string last_changed_;
    bool busy_ = false;
    QTimer debounce_;
    std::unique_ptr<LatestWins<ScenarioText, Answer>> worker_;
};

}  // namespace debubble::gui
