#include <algorithm>

#include <QAction>
#include <QClipboard>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QGuiApplication>
#include <QMenu>
#include <QMimeData>
#include <QSettings>
#include <QStatusBar>
#include <QUrl>

#include "base/diagnostic.h"
#include "base/file.h"
#include "base/parallel.h"
#include "gui/viewmodel/copied.h"
#include "gui/viewmodel/export.h"
#include "gui/widgets/main_window.h"
#include "gui/widgets/message_strip.h"
#include "gui/widgets/picture_export.h"
#include "gui/widgets/save_dialog.h"
#include "gui/widgets/timeline/film.h"
#include "gui/widgets/timeline/timeline_view.h"
#include "text/shipped_files.h"

/// Files, and the settings that are kept from one start to the next.
namespace debubble::gui {
namespace {

constexpr int kMostRecent = 10;
constexpr double kCopiedFineness = 2;  ///< pixels of a copied picture per pixel of the screen
constexpr int kArrangement = 3;        ///< version of the arrangement of docks

/// Whether a file is shipped, and so not overwritten.
bool is_shipped(const std::string& file) {
    std::error_code error;
    const auto folder = std::filesystem::weakly_canonical(text::data_folder(), error);
    const auto path = std::filesystem::weakly_canonical(file, error);
    return std::ranges::mismatch(folder, path).in1 == folder.end();
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
    statusBar()->showMessage(tr("Reading %1").arg(files.join(", ")));
    opener_->ask(std::move(request));
}

void MainWindow::take(const Opened& opened) {
    statusBar()->clearMessage();
    if (!opened.mistakes.empty()) {
        messages_->show_mistakes(opened.mistakes);
        Q_EMIT settled();
        return;
    }
    // settled() follows with the answer.
    if (opened.scenario && may_discard()) return open_scenario(*opened.scenario);
    if (desk_.show(opened)) {
        if (opened.compares == Compares::Files)
            for (const Shown& trace : opened.traces) add_recent(QString::fromStdString(trace.file));
        show_screen();
        show_page("timeline");
    }
    Q_EMIT settled();
}

void MainWindow::open_scenario(const ScenarioText& source) {
    desk_.open_plan(source.file);
    show_screen();
    show_page("timeline");
    session_.start(source);
    add_recent(QString::fromStdString(source.file));
}

void MainWindow::choose_file() {
    const QStringList files = QFileDialog::getOpenFileNames(
        this, tr("Open a scenario, a trace, or two to compare"), {},
        tr("Scenarios, traces and profiles (*.yaml *.yml *.json *.json.gz *.sqlite);;All files "
           "(*)"));
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
        ask_where_to_save(this, tr("Save the scenario"), name, {{tr("Scenario"), "yaml"}});
    return !file.isEmpty() && save_to(file);
}

bool MainWindow::save_to(const QString& file) {
    try {
        write_file(file.toStdString(), session_.history().now().text);
    } catch (const std::exception& error) {
        messages_->warn(QString::fromStdString(error.what()));
        return false;
    }
    desk_.renamed(file.toStdString());
    if (std::holds_alternative<on_screen::Plan>(desk_.screen())) looked_at_ = file;
    session_.saved(file);
    unsaved_.forget();
    add_recent(file);
    return true;
}

void MainWindow::choose_export() {
    std::vector<SaveKind> kinds;
    for (const ExportChoice& choice : export_choices(desk_.screen()))
        kinds.push_back(
            {QString::fromStdString(choice.name), QString::fromStdString(choice.ending)});
    const QString file = ask_where_to_save(this, tr("Export the timeline"), {}, kinds);
    if (!file.isEmpty()) export_to(file);
}

void MainWindow::export_to(const QString& file) {
    try {
        const ExportFormat format = export_format_of(file.toStdString());
        if (!desk_.can_export()) throw InputError("nothing is open that could be exported");
        if (is_text_format(format) && format != ExportFormat::Svg)
            write_file(file.toStdString(), exported(desk_.screen(), format));
        else if (is_film_format(format))
            return film_to(file, format);
        else
            write_picture(*timeline_, file, format, {});
        messages_->say(tr("Written: %1").arg(file));
    } catch (const std::exception& error) {
        messages_->warn(QString::fromStdString(error.what()));
    }
}

/// Writes a film in a thread of its own, since that takes some seconds; one at a time.
void MainWindow::film_to(const QString& file, ExportFormat format) {
    if (filming_.joinable() && !film_is_written_)
        return messages_->warn(tr("A film is being written; wait until it is"));
    film_is_written_ = false;
    messages_->say(tr("The film is being made: %1").arg(file));
    filming_ = std::jthread(
        [this, file, format, film = timeline_->film({})](const std::stop_token& stop) mutable {
            QString mistake;
            try {
                write_film(std::move(film), file, format, stop);
            } catch (const Cancelled&) {
                return;  // the window is gone
            } catch (const std::exception& error) {
                mistake = QString::fromStdString(error.what());
            }
            QMetaObject::invokeMethod(
                this,
                [this, file, mistake] {
                    film_is_written_ = true;
                    if (mistake.isEmpty())
                        messages_->say(tr("Written: %1").arg(file));
                    else
                        messages_->warn(mistake);
                    Q_EMIT filmed();
                },
                Qt::QueuedConnection);
        });
}

void MainWindow::copy() {
    const std::string command = command_for(desk_.screen(), session_.history().now());
    if (command.empty()) return messages_->warn(tr("Nothing is open that could be copied"));
    auto* copied = new QMimeData;
    copied->setText(QString::fromStdString(command));
    copied->setImageData(timeline_->picture(timeline_->viewport()->size(), kCopiedFineness));
    QGuiApplication::clipboard()->setMimeData(copied);
    messages_->say(tr("Copied: the picture, and %1").arg(QString::fromStdString(command)));
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    if (!local_files(*event->mimeData()).isEmpty()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
    QStringList files = local_files(*event->mimeData());
    // A second trace is compared with the open one.
    const auto* shown = std::get_if<on_screen::Trace>(&desk_.screen());
    if (files.size() == 1 && shown != nullptr && files[0].endsWith(".json"))
        files.prepend(QString::fromStdString(shown->trace.file));
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
/// layout of docks, so the window starts in both cases.
void MainWindow::restore() {
    const QSettings settings;
    if (settings.status() != QSettings::NoError) return;
    restoreGeometry(settings.value("window/geometry").toByteArray());
    below_has_size_ = restoreState(settings.value("window/docks").toByteArray(), kArrangement);
}

void MainWindow::remember() {
    QSettings settings;
    settings.setValue("window/geometry", saveGeometry());
    settings.setValue("window/docks", saveState(kArrangement));
    remember_view();
}

}  // namespace debubble::gui
