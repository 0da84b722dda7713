#pragma once

#include <memory>
#include <optional>

#include <QFile>
#include <QProcess>
#include <QTimer>
#include <QWidget>

#include "gui/viewmodel/run/run_plan.h"

class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;
class QSpinBox;

namespace debubble::gui {

class CurveView;

/// Executes the plan that is shown as a child process: `debubble run`, after the user's launch
/// command if there is one.
class RunPanel : public QWidget {
    Q_OBJECT

public:
    explicit RunPanel(QWidget* parent = nullptr);
    ~RunPanel() override;

    void set_scenario(const ScenarioText& source) { source_ = source; }
    void start();
    /// Asks the run to save and end; if called again, kills it.
    void stop();
    bool is_running() const { return process_.state() != QProcess::NotRunning; }
    const std::vector<RunStep>& steps() const { return metrics_->steps(); }

Q_SIGNALS:
    void started();
    void executed(const QString& trace);  ///< the run ended well and left this trace
    void failed(const QString& message);

private:
    void finish(int code, QProcess::ExitStatus status);
    QString complaint() const;
    void read_output();
    void read_metrics();
    void show_state(const QString& state);

    ScenarioText source_;
    RunFolder out_;
    QProcess process_;
    QTimer timer_;
    QFile metrics_file_;
    std::optional<MetricsReader> metrics_ = MetricsReader{};
    bool stopping_ = false;

    QLineEdit* launch_ = nullptr;
    QSpinBox* steps_ = nullptr;
    QPushButton* start_ = nullptr;
    QLabel* state_ = nullptr;
    CurveView* loss_ = nullptr;
    CurveView* speed_ = nullptr;
    QPlainTextEdit* log_ = nullptr;
};

}  // namespace debubble::gui
