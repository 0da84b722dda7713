#pragma once

#include <memory>
#include <optional>

#include <QFile>
#include <QProcess>
#include <QTimer>
#include <QWidget>

#include "gui/viewmodel/run/run_folders.h"
#include "gui/viewmodel/run/run_plan.h"
#include "gui/viewmodel/what_if/answer.h"

class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;
class QSpinBox;

namespace debubble::gui {

class CurveView;

/// Executes the shown plan as a child process: `debubble run`, after the user's launch command if
/// there is one.
class RunPanel : public QWidget {
    Q_OBJECT

public:
    explicit RunPanel(QWidget* parent = nullptr);
    ~RunPanel() override;

    /// Executes a scenario. `plan` is its prediction.
    void start(const ScenarioText& source, std::shared_ptr<const PredictedPlan> plan);
    /// Asks the run to save and end; a second call kills it.
    void stop();
    bool is_stopping() const { return is_running() && stopping_; }
    bool is_running() const { return process_.state() != QProcess::NotRunning; }
    const std::vector<RunStep>& steps() const { return metrics_->steps(); }

Q_SIGNALS:
    void wanted();  ///< the button was pressed: the shown plan is to be executed
    /// The run of this plan ended successfully and wrote this trace.
    void executed(const std::shared_ptr<const debubble::gui::PredictedPlan>& plan,
                  const QString& trace);
    void failed(const QString& message);
    void ended();  ///< after executed() or failed(), and for any other end

private:
    bool ended_well(int code, QProcess::ExitStatus status) const;
    void finish(int code, QProcess::ExitStatus status);
    QString complaint() const;
    void read_output();
    void read_metrics();
    void show_state(const QString& state);

    std::shared_ptr<const PredictedPlan> plan_;  ///< the plan of the run
    RunFolder out_;
    RunInUse in_use_;  ///< the run's folder, until the start of the next run
    QProcess process_;
    QTimer timer_;
    QFile metrics_file_;
    std::optional<MetricsReader> metrics_ = MetricsReader{};
    bool stopping_ = false;

    QLineEdit* launch_ = nullptr;
    QLineEdit* folder_ = nullptr;
    QSpinBox* steps_ = nullptr;
    QPushButton* start_ = nullptr;
    QLabel* state_ = nullptr;
    CurveView* loss_ = nullptr;
    CurveView* speed_ = nullptr;
    QPlainTextEdit* log_ = nullptr;
};

}  // namespace debubble::gui
