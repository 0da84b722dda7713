#include "gui/widgets/run/run_panel.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QDir>
#include <QFontDatabase>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSettings>
#include <QSpinBox>
#include <QStandardPaths>

#include "base/command_line/exit_status.h"
#include "base/diagnostic.h"
#include "gui/widgets/run/curve_view.h"

namespace debubble::gui {
namespace {

constexpr int kPoll = 300;         ///< milliseconds
constexpr int kLongestLog = 5000;  ///< lines
/// Milliseconds in which a killed run must end when the window closes.
constexpr int kPatience = 3000;

/// The folder of all runs, unless the user names another one.
QString usual_folder() {
    return QStandardPaths::writableLocation(QStandardPaths::AppLocalDataLocation) + "/runs";
}

QString new_folder(const QString& place, const std::string& file) {
    const QString time = QDateTime::currentDateTime().toString("yyyyMMdd-hhmmss-zzz");
    return QString("%1/%2-%3")
        .arg(place.isEmpty() ? usual_folder() : place, QString::fromStdString(title_of(file)),
             time);
}

}  // namespace

RunPanel::RunPanel(QWidget* parent) : QWidget(parent) {
    launch_ = new QLineEdit;
    launch_->setObjectName("run-launch");
    launch_->setAccessibleName(tr("Launch command"));
    launch_->setPlaceholderText(tr("none, or for example mpirun -n 4"));
    launch_->setToolTip(tr("Put before 'debubble run ...'"));
    steps_ = new QSpinBox;
    steps_->setObjectName("run-steps");
    steps_->setAccessibleName(tr("Training steps"));
    steps_->setRange(0, 1'000'000'000);
    steps_->setSpecialValueText(tr("as the scenario says"));
    folder_ = new QLineEdit;
    folder_->setObjectName("run-folder");
    folder_->setAccessibleName(tr("Folder of the runs"));
    folder_->setPlaceholderText(QDir::toNativeSeparators(usual_folder()));
    folder_->setToolTip(
        tr("Each run has a folder of its own in here, with its trace, metrics and "
           "checkpoints; ranks on several hosts must all see it. Without a name the newest %1 are "
           "kept; in a folder with a name all are")
            .arg(kKeptRuns));
    start_ = new QPushButton(tr("Run"));
    start_->setObjectName("run-start");
    start_->setAccessibleName(tr("Run or stop"));
    state_ =
        new QLabel(tr("Trains on this machine by the plan that is shown, from the beginning; "
                      "the scenario's own checkpoints stay as they are"));
    state_->setWordWrap(true);
    loss_ = new CurveView(tr("loss"));
    speed_ = new CurveView(tr("tokens/s"));
    log_ = new QPlainTextEdit;
    log_->setObjectName("run-log");
    log_->setAccessibleName(tr("Log of the run"));
    log_->setReadOnly(true);
    log_->setTabChangesFocus(true);
    log_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    log_->setMaximumBlockCount(kLongestLog);

    auto* form = new QFormLayout;
    form->addRow(tr("Steps"), steps_);
    form->addRow(tr("Launch"), launch_);
    form->addRow(tr("Files in"), folder_);
    form->addRow(start_);
    form->addRow(state_);
    auto* curves = new QVBoxLayout;
    curves->addWidget(loss_);
    curves->addWidget(speed_);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(4, 4, 4, 4);
    row->addLayout(form, 2);
    row->addLayout(curves, 3);
    row->addWidget(log_, 4);

    const QSettings settings;
    steps_->setValue(settings.value("run/steps").toInt());
    launch_->setText(settings.value("run/launch").toString());
    folder_->setText(settings.value("run/folder").toString());
    timer_.setInterval(kPoll);
    process_.setProcessChannelMode(QProcess::MergedChannels);
    connect(&timer_, &QTimer::timeout, this, &RunPanel::read_metrics);
    connect(start_, &QPushButton::clicked, this,
            [this] { is_running() ? stop() : Q_EMIT wanted(); });
    connect(&process_, &QProcess::readyRead, this, &RunPanel::read_output);
    connect(&process_, &QProcess::finished, this, &RunPanel::finish);
    connect(&process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error != QProcess::FailedToStart) return;  // finished() follows the other errors
        start_->setText(tr("Run"));
        Q_EMIT failed(
            tr("%1 cannot be started: %2").arg(process_.program(), process_.errorString()));
    });
}

RunPanel::~RunPanel() {
    process_.disconnect(this);
    if (!is_running()) return;
    process_.terminate();
    if (!process_.waitForFinished(kPatience)) process_.kill();
    process_.waitForFinished(kPatience);
}

void RunPanel::show_state(const QString& state) {
    state_->setText(state);
}

void RunPanel::start(const ScenarioText& source, std::shared_ptr<const PredictedPlan> plan) {
    if (is_running()) return;
    plan_ = std::move(plan);
    QSettings settings;
    settings.setValue("run/steps", steps_->value());
    settings.setValue("run/launch", launch_->text());
    settings.setValue("run/folder", folder_->text());
    const QString folder = new_folder(folder_->text(), source.file);
    out_ = {folder.toStdString()};
    QStringList words = QProcess::splitCommand(launch_->text());
    words << QCoreApplication::applicationDirPath() + "/debubble";
    try {
        for (const std::string& word : run_words(source, out_, steps_->value()))
            words << QString::fromStdString(word);
        in_use_ = RunInUse(out_.folder);
    } catch (const InputError& error) {
        Q_EMIT failed(QString::fromStdString(error.diagnostics().front().message));
        return;
    } catch (const WorldError& error) {
        Q_EMIT failed(QString::fromUtf8(error.what()));
        return;
    }
    if (folder_->text().isEmpty()) prune_runs(usual_folder().toStdString());
    metrics_ = MetricsReader{};
    metrics_file_.close();
    metrics_file_.setFileName(QString::fromStdString(out_.metrics()));
    stopping_ = false;
    log_->clear();
    log_->appendPlainText("$ " + words.join(' '));
    start_->setText(tr("Stop"));
    show_state(tr("The run is under way; its files and checkpoints are in %1").arg(folder));
    const QString program = words.takeFirst();
    process_.start(program, words, QIODevice::ReadOnly);
    timer_.start();
}

void RunPanel::stop() {
    if (!is_running()) return;
    if (stopping_) return process_.kill();
    stopping_ = true;
    process_.terminate();
    start_->setText(tr("Kill"));
    show_state(tr("The run ends after the current step"));
}

void RunPanel::read_output() {
    QString text = QString::fromUtf8(process_.readAll());
    while (text.endsWith('\n')) text.chop(1);
    if (!text.isEmpty()) log_->appendPlainText(text);
}

void RunPanel::read_metrics() {
    if (!metrics_file_.isOpen() && !metrics_file_.open(QIODevice::ReadOnly)) return;
    const QByteArray more = metrics_file_.readAll();
    if (more.isEmpty()) return;
    metrics_->add({more.constData(), std::size_t(more.size())});
    std::vector<double> loss;
    std::vector<double> speed;
    for (const RunStep& step : metrics_->steps()) {
        loss.push_back(step.loss);
        speed.push_back(step.tokens_per_s);
    }
    loss_->show_values(std::move(loss));
    speed_->show_values(std::move(speed));
}

/// The first line that reports an error, or else the last line.
QString RunPanel::complaint() const {
    const QStringList lines = log_->toPlainText().split('\n');
    for (const QString& line : lines)
        if (line.contains("error: ")) return line;
    return lines.back();
}

/// Whether the run ended by itself with success, or by the user.
bool RunPanel::ended_well(int code, QProcess::ExitStatus status) const {
    const bool has_trace = QFile::exists(QString::fromStdString(out_.trace()));
    const bool stopped = stopping_ && code == int(ExitStatus::World) && has_trace;
    return status == QProcess::NormalExit && (code == 0 || stopped);
}

void RunPanel::finish(int code, QProcess::ExitStatus status) {
    timer_.stop();
    read_output();
    read_metrics();
    start_->setText(tr("Run"));
    if (ended_well(code, status)) {
        show_state(
            tr("Done: %n step(s); the files are in %1", nullptr, int(metrics_->steps().size()))
                .arg(QString::fromStdString(out_.folder)));
        const QString trace = QString::fromStdString(out_.trace());
        if (QFile::exists(trace)) Q_EMIT executed(plan_, trace);
    } else if (status == QProcess::CrashExit) {
        show_state(stopping_ ? tr("Killed") : tr("The run crashed"));
        if (!stopping_) Q_EMIT failed(tr("The run crashed; its log says more"));
    } else {
        show_state(tr("Ended with code %1").arg(code));
        Q_EMIT failed(tr("The run ended with code %1: %2").arg(code).arg(complaint()));
    }
    Q_EMIT ended();
}

}  // namespace debubble::gui
