#include <gtest/gtest.h>
#include <QApplication>
#include <QFont>
#include <QLocale>
#include <QSettings>
#include <QStandardPaths>
#include <QTemporaryDir>

int main(int argc, char** argv) {
    const QTemporaryDir home;  // no user's settings are read or written
    qputenv("QT_QPA_PLATFORM", "offscreen");
    qputenv("XDG_CONFIG_HOME", home.path().toUtf8());
    qputenv("XDG_DATA_HOME", home.path().toUtf8());
    testing::InitGoogleTest(&argc, argv);
    const QApplication application(argc, argv);
    QApplication::setApplicationName("debubble");
    QApplication::setOrganizationName("debubble");
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QLocale::setDefault(QLocale::c());
    QApplication::setStyle("Fusion");
    QApplication::setFont(QFont("DejaVu Sans", 9));
    return RUN_ALL_TESTS();
}
