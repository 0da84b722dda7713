#pragma once

#include <memory>
#include <optional>

#include <QTimer>
#include <QWidget>

#include "base/units.h"
#include "gui/viewmodel/sweep/sweep_run.h"
#include "gui/viewmodel/sweep/sweep_table.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QProgressBar;
class QPushButton;
class QTableView;

namespace debubble::gui {

class ScatterView;
class SweepModel;

/// Every plan of a grid, or its best ones: the grid, the progress, and a table and a plot of the
/// same rows.
class SweepPanel : public QWidget {
    Q_OBJECT

public:
    explicit SweepPanel(QWidget* parent = nullptr);
    ~SweepPanel() override;

    /// Sets the scenario of the grid, and shows its own grid if the user has typed none.
    void set_scenario(const ScenarioText& source);
    /// Predicts every plan of the grid.
    void start() { begin(Ask::EveryPlan); }
    /// Finds the best plan of the grid and opens it, unless the scenario has changed meanwhile.
    void search() { begin(Ask::BestPlan); }
    void stop();
    bool is_running() const;
    /// The memory of one device, drawn as a line in the plot.
    void set_memory_limit(std::optional<Bytes> limit);
    const SweepTable& table() const { return table_; }
    void write_csv(const QString& file);

Q_SIGNALS:
    /// The user chose a plan: `keys` are its values in `ground`, the swept scenario.
    void chosen(const debubble::gui::ScenarioText& ground,
                const std::vector<debubble::scenarios::Override>& keys, const QString& what);
    void opened();  ///< the chosen plan is to be shown in the timeline
    void failed(const std::vector<debubble::Diagnostic>& mistakes);
    void finished();

protected:
    void showEvent(QShowEvent* event) override;

private:
    void build_controls();
    void lay_out();
    void connect_parts();
    void show_grid();
    void begin(Ask ask);
    void take_best();
    void poll();
    void refresh();
    void show_progress(const SweepRun::Progress& progress);
    void choose_row(std::size_t row);
    void show_staleness();
    void fill_axes();
    void colour_points();

    ScenarioText source_;
    ScenarioText swept_;    ///< the scenario of the rows
    QString counted_;       ///< the progress in words
    bool stale_ = false;    ///< whether the rows are of another scenario than source_
    ScenarioText grid_of_;  ///< the scenario whose grid is shown
    QString grid_shown_;    ///< its grid
    std::unique_ptr<SweepRun> run_;
    SweepTable table_;
    QTimer timer_;
    std::optional<std::size_t> chosen_;
    std::optional<Bytes> limit_;

    QPlainTextEdit* grid_ = nullptr;
    QPushButton* start_ = nullptr;
    QPushButton* search_ = nullptr;
    QLabel* best_ = nullptr;  ///< the result of a search
    QProgressBar* progress_ = nullptr;
    QLabel* state_ = nullptr;
    QLineEdit* filter_ = nullptr;
    QPushButton* csv_ = nullptr;
    QTableView* view_ = nullptr;
    SweepModel* model_ = nullptr;
    QComboBox* x_ = nullptr;
    QComboBox* y_ = nullptr;
    QComboBox* colour_ = nullptr;
    ScatterView* plot_ = nullptr;
};

}  // namespace debubble::gui
