#include "gui/widgets/what_if/whole_names.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QComboBox>
#include <QKeyEvent>

namespace debubble::gui {

WholeNames::WholeNames(QComboBox* box) : QObject(box), box_(box) {
    box->installEventFilter(this);
    box->view()->installEventFilter(this);
}

bool WholeNames::eventFilter(QObject* object, QEvent* event) {
    if (event->type() != QEvent::KeyPress) return QObject::eventFilter(object, event);
    const QString letter = static_cast<QKeyEvent*>(event)->text();
    if (letter.isEmpty() || !letter.front().isPrint()) {
        typed_.clear();
        return QObject::eventFilter(object, event);
    }
    if (since_.isValid() && since_.elapsed() > QApplication::keyboardInputInterval())
        typed_.clear();
    since_.start();
    typed_ += letter;
    const int at = box_->findText(typed_, Qt::MatchFixedString);
    if (at < 0) return QObject::eventFilter(object, event);
    if (!(box_->model()->flags(box_->model()->index(at, 0)) & Qt::ItemIsEnabled))
        return QObject::eventFilter(object, event);
    if (box_->view()->isVisible()) {
        box_->view()->setCurrentIndex(box_->model()->index(at, 0));
    } else if (at != box_->currentIndex()) {
        box_->setCurrentIndex(at);
        Q_EMIT box_->activated(at);
    }
    return true;
}

}  // namespace debubble::gui
