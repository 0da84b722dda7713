#pragma once

#include <vector>

#include <QString>

class QWidget;

namespace debubble::gui {

/// A kind of file that a dialog offers to write.
struct SaveKind {
    QString name;    ///< such as "Vector picture"
    QString ending;  ///< such as "svg"
};

/// Asks for a file to write; empty if the user cancels. A name without an ending gets that of the
/// chosen kind before the dialog asks about an existing file.
QString ask_where_to_save(QWidget* parent, const QString& title, const QString& name,
                          const std::vector<SaveKind>& kinds);

}  // namespace debubble::gui
