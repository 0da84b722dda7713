#include <QCloseEvent>
#include <QMessageBox>

#include "gui/widgets/main_window.h"
#include "gui/widgets/message_strip.h"

/// Protection against losses: unsaved changes are kept, and the user is asked before a plan is
/// replaced or the window closes.
namespace debubble::gui {

/// Keeps unsaved changes; returns false if that fails.
bool MainWindow::keep_unsaved() {
    if (!desk_.has_plan()) return true;
    try {
        if (session_.history().is_saved())
            unsaved_.forget();
        else
            unsaved_.keep(session_.history().now());
    } catch (const std::exception& error) {  // worth a warning, but the window goes on
        messages_->warn(tr("Unsaved changes cannot be kept: %1").arg(error.what()));
        return false;
    }
    return true;
}

/// Asks about changes that cannot be kept for the next start, as on a full disk.
bool MainWindow::may_lose_changes() {
    QMessageBox box(QMessageBox::Warning, tr("Unsaved changes"),
                    tr("%1 has changes that are not saved, and they cannot be kept for the next "
                       "start.")
                        .arg(QString::fromStdString(title_of(session_.history().now().file))),
                    QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, this);
    box.setInformativeText(messages_->message());
    box.setDefaultButton(QMessageBox::Cancel);
    box.setEscapeButton(QMessageBox::Cancel);
    const int answer = box.exec();
    return answer == QMessageBox::Discard || (answer == QMessageBox::Save && save_as());
}

void MainWindow::offer_unsaved() {
    const std::vector<UnsavedFolder::Left> all = unsaved_.find_left();
    if (all.empty()) return;
    const UnsavedFolder::Left& newest = all.front();
    QString sentence = tr("Changes of %1 were not saved when the window closed.")
                           .arg(QString::fromStdString(title_of(newest.source.file)));
    if (all.size() > 1) sentence += tr("  (1 of %1)").arg(all.size());
    messages_->offer(sentence, {tr("Restore them"), [this, newest] { restore_left(newest); }},
                     {tr("Throw them away"), [this, newest] {
                          UnsavedFolder::forget_left(newest);
                          messages_->clear();
                          offer_unsaved();
                      }});
}

/// The kept text is removed only after this window keeps it itself.
void MainWindow::restore_left(const UnsavedFolder::Left& left) {
    if (!may_discard()) return;
    ScenarioText on_disk{{}, left.source.file};
    try {
        on_disk = std::get<ScenarioText>(open_source(left.source.file));
    } catch (const std::exception&) {  // the file is gone, and the kept text is saved nowhere
    }
    opener_->forget();
    messages_->clear();
    open_scenario(on_disk);
    session_.set_text(QString::fromStdString(left.source.text));
    keep_unsaved();
    UnsavedFolder::forget_left(left);
    offer_unsaved();
}

/// Asks about changes that opening another scenario would discard.
bool MainWindow::may_discard() {
    if (!desk_.has_plan() || session_.history().is_saved()) return true;
    QMessageBox box(QMessageBox::Question, tr("Unsaved changes"),
                    tr("%1 has changes that are not saved.")
                        .arg(QString::fromStdString(title_of(session_.history().now().file))),
                    QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, this);
    box.setInformativeText(tr("Another scenario takes its place."));
    box.setDefaultButton(QMessageBox::Save);
    const int answer = box.exec();
    if (answer == QMessageBox::Save) return save();
    if (answer != QMessageBox::Discard) return false;
    unsaved_.forget();
    return true;
}

/// Unsaved changes are kept and offered at the next start, so closing asks only if they cannot be
/// kept.
void MainWindow::closeEvent(QCloseEvent* event) {
    if (!keep_unsaved() && !may_lose_changes()) return event->ignore();
    for (const auto& view : views_)
        if (!view->may_close()) return event->ignore();
    remember();
    QMainWindow::closeEvent(event);
}

}  // namespace debubble::gui
