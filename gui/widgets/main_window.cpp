#include "gui/widgets/main_window.h"

#include "gui/viewmodel/source.h"

namespace debubble::gui {

MainWindow::MainWindow() {
    setWindowTitle(tr("debubble"));
    resize(1400, 900);
}

void MainWindow::open(const CommandLine& line) {
    if (!line.files.empty())
        setWindowTitle(tr("%1 - debubble").arg(QString::fromStdString(title_of(line.files[0]))));
}

}  // namespace debubble::gui
