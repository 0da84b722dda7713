#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <QTreeWidget>

#include "gui/viewmodel/latest_wins.h"
#include "gui/viewmodel/what_if/zoo.h"

namespace debubble::gui {

/// Every schedule of the plan as a row: its picture on one axis, its figures, whether it fits.
/// Enter or a double click chooses one, Space pins it at the top for comparison, and the pointer
/// enlarges its picture. A worker makes the rows when they are visible.
class ZooPanel : public QTreeWidget {
    Q_OBJECT

public:
    explicit ZooPanel(QWidget* parent = nullptr);
    ~ZooPanel() override;

    /// Sets the scenario; an empty text: none.
    void set_scenario(const ScenarioText& source);
    const std::vector<ZooRow>& rows() const { return rows_; }
    /// The pinned schedules, in the order of pinning.
    const std::vector<std::string>& pinned() const { return pinned_; }

Q_SIGNALS:
    /// The user chose a schedule: the scenario with it.
    void chosen(const debubble::gui::ScenarioText& changed, const QString& schedule);
    void rows_ready();

protected:
    void showEvent(QShowEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool viewportEvent(QEvent* event) override;

private:
    struct Result {
        ScenarioText source;
        std::vector<ZooRow> rows;
        std::string mistake;
    };
    static Result result_of(const ScenarioText& source, const std::stop_token& stop);
    void ask();
    void take(const Result& result);
    void list();
    void add(const ZooRow& row);
    const ZooRow* row_of(const QTreeWidgetItem* item) const;
    void toggle_pin(const ZooRow& row);
    void say(const QString& words);

    ScenarioText source_;
    ScenarioText asked_;
    std::vector<ZooRow> rows_;
    std::vector<std::size_t> order_;  ///< order of the rows on the screen
    std::vector<std::string> pinned_;
    std::unique_ptr<LatestWins<ScenarioText, Result>> worker_;  ///< last, since it calls back
};

}  // namespace debubble::gui
