#include "gui/widgets/colours.h"

#include <QApplication>

namespace debubble::gui {

void make_placeholders_legible() {
    QPalette palette = QApplication::palette();
    QColor wanted = palette.color(QPalette::Text);
    wanted.setAlpha(128);  // as in Qt's own palettes
    if (palette.color(QPalette::PlaceholderText) == wanted) return;
    palette.setColor(QPalette::PlaceholderText, wanted);
    QApplication::setPalette(palette);
}

}  // namespace debubble::gui
