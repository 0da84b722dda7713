#include <algorithm>
#include <utility>

#include <QAction>
#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QMenu>
#include <QMimeData>
#include <QSettings>
#include <QUrl>

#include "base/diagnostic.h"
#include "base/file.h"
#include "base/sha256.h"
#include "gui/viewmodel/export.h"
#include "gui/viewmodel/remembered_view.h"
#include "gui/widgets/main_window.h"
#include "gui/widgets/message_strip.h"
#include "gui/widgets/picture_export.h"
#include "gui/widgets/timeline/timeline_view.h"
#include "text/shipped_files.h"

/// Files, and the settings that last from one start to the next.
namespace debubble::gui {
namespace {

constexpr int kMostRecent = 10;
constexpr int kMostViews = 100;
constexpr const char* kFirstExample = "gpt2-xl-zb-v";

/// Shipped files, which are not overwritten.
bool is_shipped(const std::string& file) {
    std::error_code error;
    const auto folder = std::filesystem::weakly_canonical(text::data_folder(), error);
    const auto path = std::filesystem::weakly_canonical(file, error);
    return std::ranges::mismatch(folder, path).in1 == folder.end();
}

/// A key that settings can have.
QString view_key(const QString& file) {
    return QString::fromStdString(sha256(file.toStdString()).substr(0, 24));
}

QStringList local_files(const QMimeData& data) {
    QStringList files;
    for (const QUrl& url : data.urls())
        if (url.isLocalFile()) files << url.toLocalFile();
    return files;
}

}  // namespace

void MainWindow::open(const CommandLine& line) {
    offer_unsaved();
    QStringList files;
    for (const std::string& file : line.files) files << QString::fromStdString(file);
    if (!files.isEmpty()) return open_files(files, line.set);
    const QString last = QSettings().value("files/last").toString();
    open_files({QFileInfo::exists(last) ? last : QString(kFirstExample)}, line.set);
}

void MainWindow::open_files(const QStringList& files, const std::vector<std::string>& set) {
    OpenRequest request;
    for (const QString& file : files) request.files.push_back(file.toStdString());
    request.set = set;
    status_->setText(tr("Reading %1").arg(files.join(", ")));
    opener_->ask(std::move(request));
}

void MainWindow::take(const Opened& opened) {
    if (!opened.mistakes.empty()) {
        messages_->show_mistakes(opened.mistakes);
        Q_EMIT settled();
        return;
    }
    const auto lies_above = [&](const std::shared_ptr<const PredictedPlan>& plan) {
        return opened.traces.size() == 2 && plan_open_ && plan &&
               opened.traces[0].document == plan->document;
    };
    const bool of_plans =
        below_ && opened.traces.size() == 2 && opened.traces[1].document == below_->document;
    if (of_plans) {
        if (lies_above(session_.answer().plan))  // otherwise it has changed meanwhile
            show_instead_of_plan(opened, session_.is_pinned()
                                             ? tr("Above this plan, below the one that was pinned")
                                             : tr("Above this plan, below the one before"));
        Q_EMIT settled();
        return;
    }
    if (lies_above(executing_)) {
        show_instead_of_plan(opened, tr("Above what was simulated, below what was executed"));
        Q_EMIT settled();
        return;
    }
    if (opened.scenario) {
        look_at(QString::fromStdString(opened.scenario->file));
        traces_.clear();
        set_plan_open(true);
        session_.start(*opened.scenario);
        add_recent(QString::fromStdString(opened.scenario->file));
        return;  // settled when the question is answered
    }
    for (const Shown& trace : opened.traces) add_recent(QString::fromStdString(trace.file));
    QStringList names;
    for (const Shown& trace : opened.traces) names << QString::fromStdString(trace.file);
    look_at(names.join('|'));
    show_traces(opened);
    recall_view();
    Q_EMIT settled();
}

void MainWindow::choose_file() {
    const QStringList files = QFileDialog::getOpenFileNames(
        this, tr("Open a scenario, a trace, or two to compare"), {},
        tr("Scenarios and traces (*.yaml *.yml *.json);;All files (*)"));
    if (!files.isEmpty()) open_files(files);
}

bool MainWindow::save() {
    const std::string& file = session_.history().now().file;
    if (is_shipped(file)) return save_as();
    return save_to(QString::fromStdString(file));
}

bool MainWindow::save_as() {
    const QString name =
        QFileInfo(QString::fromStdString(session_.history().now().file)).fileName();
    const QString file =
        QFileDialog::getSaveFileName(this, tr("Save the scenario"), name, tr("YAML (*.yaml)"));
    return !file.isEmpty() && save_to(file);
}

bool MainWindow::save_to(const QString& file) {
    try {
        write_file(file.toStdString(), session_.history().now().text);
    } catch (const std::exception& error) {
        messages_->warn(QString::fromStdString(error.what()));
        return false;
    }
    session_.saved(file);
    unsaved_.forget();
    add_recent(file);
    return true;
}

void MainWindow::choose_export() {
    const QString file = QFileDialog::getSaveFileName(
        this, tr("Export the timeline"), {},
        tr("Vector picture (*.svg);;Picture (*.png);;Document (*.pdf);;Trace for Perfetto "
           "(*.json);;Table of actions (*.csv)"));
    if (!file.isEmpty()) export_to(file);
}

void MainWindow::export_to(const QString& file) {
    try {
        const ExportFormat format = export_format_of(file.toStdString());
        const Layer& shown = timeline_->scene().main;
        if (!shown) throw InputError("nothing is open that could be exported");
        if (!is_text_format(format) || format == ExportFormat::Svg) {
            write_picture(*timeline_, file, format, {});
        } else if (plan_open_ && session_.answer().plan) {
            const PredictedPlan& plan = *session_.answer().plan;
            write_file(
                file.toStdString(),
                exported({plan.document->trace, plan.document->statistics, plan.picture}, format));
        } else {
            write_file(file.toStdString(),
                       exported(exhibit_of(shown.document->trace, traces_.front().file), format));
        }
        messages_->say(tr("Written: %1").arg(file));
    } catch (const std::exception& error) {
        messages_->warn(QString::fromStdString(error.what()));
    }
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    if (!local_files(*event->mimeData()).isEmpty()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
    QStringList files = local_files(*event->mimeData());
    // One more trace is compared with the one that is open.
    if (files.size() == 1 && traces_.size() == 1 && files[0].endsWith(".json"))
        files.prepend(QString::fromStdString(traces_.front().file));
    open_files(files);
    event->acceptProposedAction();
}

void MainWindow::add_recent(const QString& file) {
    QSettings settings;
    const QString path = QFileInfo(file).absoluteFilePath();
    QStringList files = settings.value("files/recent").toStringList();
    files.removeAll(path);
    files.prepend(path);
    settings.setValue("files/recent", QStringList(files.mid(0, kMostRecent)));
    settings.setValue("files/last", path);
}

void MainWindow::fill_recent() {
    recent_->clear();
    for (const QString& file : QSettings().value("files/recent").toStringList())
        recent_->addAction(file, this, [this, file] { open_files({file}); });
    recent_->setEnabled(true);
    if (recent_->isEmpty()) recent_->addAction(tr("Nothing yet"))->setEnabled(false);
}

/// A damaged settings file gives default values, and restoreState() refuses data that is not a
/// layout of docks: neither keeps the window from starting.
void MainWindow::restore() {
    const QSettings settings;
    if (settings.status() != QSettings::NoError) return;
    restoreGeometry(settings.value("window/geometry").toByteArray());
    restoreState(settings.value("window/docks").toByteArray());
}

void MainWindow::remember() {
    QSettings settings;
    settings.setValue("window/geometry", saveGeometry());
    settings.setValue("window/docks", saveState());
    remember_view();
}

/// Another file, or two, are shown: the view of the one before is kept.
void MainWindow::look_at(const QString& name) {
    remember_view();
    looked_at_ = name;
    recall_ = true;
}

/// While a comparison covers an open plan, its rows and colours are not the plan's.
void MainWindow::remember_view() {
    if (looked_at_.isEmpty() || recall_ || !timeline_->scene().main) return;
    if (plan_open_ && timeline_->scene().comparison) return;
    const QString key = view_key(looked_at_);
    QSettings settings;
    QStringList order = settings.value("views/order").toStringList();
    order.removeAll(key);
    order.prepend(key);
    while (order.size() > kMostViews) settings.remove("views/" + order.takeLast());
    settings.setValue("views/order", order);
    settings.setValue("views/" + key, QString::fromStdString(remembered(timeline_->state())));
}

/// Restores the view, once the file is shown for the first time.
void MainWindow::recall_view() {
    if (!std::exchange(recall_, false)) return;
    const QString kept = QSettings().value("views/" + view_key(looked_at_)).toString();
    timeline_->set_state(recalled(kept.toStdString(), fresh_view()));
}

/// A file that is new to this person is shown as a whole, whatever was chosen in the one before.
/// The options of a comparison are kept for all files, since the compare panel goes on showing
/// them.
ViewState MainWindow::fresh_view() const {
    ViewState state;
    state.axis = timeline_->state().axis;
    state.axis.fit();
    state.comparison = timeline_->state().comparison;
    return state;
}

void MainWindow::keep_unsaved() {
    if (!plan_open_) return;
    try {
        if (session_.history().is_saved())
            unsaved_.forget();
        else
            unsaved_.keep(session_.history().now());
    } catch (const std::exception& error) {  // worth a warning, but the window goes on
        messages_->warn(tr("Unsaved changes cannot be kept: %1").arg(error.what()));
    }
}

void MainWindow::offer_unsaved() {
    const std::optional<ScenarioText> left = unsaved_.find_left();
    if (!left) return;
    messages_->offer(tr("Changes of %1 were not saved when the window closed.")
                         .arg(QString::fromStdString(title_of(left->file))),
                     tr("Restore them"), [this, left = *left] {
                         unsaved_.forget_left();
                         messages_->clear();
                         take_up(left);
                     });
}

void MainWindow::take_up(const ScenarioText& left) {
    ScenarioText on_disk = left;
    try {
        on_disk = std::get<ScenarioText>(open_source(left.file));
    } catch (const std::exception&) {  // the file is gone: the kept text is all there is
    }
    opener_->forget();
    set_plan_open(true);
    session_.start(on_disk);
    session_.set_text(QString::fromStdString(left.text));
}

/// Unsaved changes are kept and offered at the next start: no question on the way out.
void MainWindow::closeEvent(QCloseEvent* event) {
    keep_unsaved();
    remember();
    QMainWindow::closeEvent(event);
}

}  // namespace debubble::gui
