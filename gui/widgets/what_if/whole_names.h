#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QString>

class QComboBox;

namespace debubble::gui {

/// Chooses entries of a box without an editor by typing. Qt looks for an entry that begins with the
/// typed letters, from the present one on, so that "1f1b" would choose "1f1b-v"; here an entry with
/// exactly the typed name comes first. A child of the box.
class WholeNames : public QObject {
public:
    explicit WholeNames(QComboBox* box);

protected:
    bool eventFilter(QObject* object, QEvent* event) override;

private:
    QComboBox* box_;
    QString typed_;
    QElapsedTimer since_;  ///< since the last key
};

}  // namespace debubble::gui
