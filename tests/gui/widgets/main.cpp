#include <QApplication>
#include <QFont>
#include <QLocale>
#include <QSettings>
#include <QStandardPaths>
#include <QTemporaryDir>

#include "tests/support/run_tests.h"

/// Without a display (the offscreen platform), in Qt's own style and one known font.
int main(int argc, char** argv) {
    const QTemporaryDir home;  // no user's settings are read or written
    qputenv("QT_QPA_PLATFORM", "offscreen");
    qputenv("XDG_CONFIG_HOME", home.path().toUtf8());
    qputenv("XDG_DATA_HOME", home.path().toUtf8());
    int qt_count = 1;  // the options are GoogleTest's
    const QApplication application(qt_count, argv);
    QApplication::setApplicationName("debubble");
    QApplication::setOrganizationName("debubble");
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QLocale::setDefault(QLocale::c());
    QApplication::setStyle("Fusion");
    QApplication::setFont(QFont("DejaVu Sans", 9));
    return debubble::run_tests(argc, argv);
}
