#include "gui/widgets/save_dialog.h"

#include <QFileDialog>

namespace debubble::gui {

QString ask_where_to_save(QWidget* parent, const QString& title, const QString& name,
                          const std::vector<SaveKind>& kinds) {
    QFileDialog dialog(parent, title);
    dialog.setAcceptMode(QFileDialog::AcceptSave);
    dialog.setFileMode(QFileDialog::AnyFile);
    QStringList filters;
    for (const SaveKind& kind : kinds) filters << QString("%1 (*.%2)").arg(kind.name, kind.ending);
    dialog.setNameFilters(filters);
    const auto use = [&](const QString& filter) {
        const qsizetype at = filters.indexOf(filter);
        if (at >= 0) dialog.setDefaultSuffix(kinds[std::size_t(at)].ending);
    };
    use(filters.front());
    QObject::connect(&dialog, &QFileDialog::filterSelected, &dialog, use);
    if (!name.isEmpty()) dialog.selectFile(name);
    if (dialog.exec() != QDialog::Accepted || dialog.selectedFiles().isEmpty()) return {};
    return dialog.selectedFiles().front();
}

}  // namespace debubble::gui
