#pragma once

#include <QMainWindow>

#include "gui/viewmodel/command_line.h"

namespace debubble::gui {

class MainWindow : public QMainWindow {
    Q_OBJECT

public:
    MainWindow();

    /// What the command line names.
    void open(const CommandLine& line);
};

}  // namespace debubble::gui
