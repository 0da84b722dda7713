#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QString>

class QComboBox;

namespace debubble::gui {

/// Lets a person type the name of an entry in a box that is not edited. Qt looks for entries that
/// begin with what is typed, from the present one on, so that "1f1b" takes "1f1b-v"; here an entry
/// whose whole name was typed comes first. A child of the box.
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
