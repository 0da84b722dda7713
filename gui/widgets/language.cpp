#include "gui/widgets/language.h"

#include <QCoreApplication>
#include <QLibraryInfo>
#include <QLocale>
#include <QSettings>
#include <QTranslator>

#include "gui/viewmodel/timeline/words.h"

namespace debubble::gui {
namespace {

constexpr const char* kKey = "window/language";

/// The files of gui/translations, by QLocale's names of their languages. The English one has only
/// plurals.
QString file_of(const QLocale& locale) {
    if (locale.language() == QLocale::German) return "de";
    const bool simplified =
        locale.script() == QLocale::SimplifiedHanScript || locale.script() == QLocale::AnyScript;
    if (locale.language() == QLocale::Chinese && simplified) return "zh_CN";
    return "en";
}

}  // namespace

QList<Language> languages() {
    return {{"en", "English"}, {"de", "Deutsch"}, {"zh_CN", QString::fromUtf8("简体中文")}};
}

QString remembered_language() {
    return QSettings().value(kKey).toString();
}

void remember_language(const QString& code) {
    if (code.isEmpty())
        QSettings().remove(kKey);
    else
        QSettings().setValue(kKey, code);
}

void speak(const QString& code) {
    static QTranslator of_window;
    static QTranslator of_qt;
    QCoreApplication::removeTranslator(&of_window);
    QCoreApplication::removeTranslator(&of_qt);
    set_translator({});
    const QString file = file_of(code.isEmpty() ? QLocale::system() : QLocale(code));
    if (!of_window.load(":/translations/debubble_" + file + ".qm")) return;
    QCoreApplication::installTranslator(&of_window);
    // Qt's own dialogs are translated if Qt's translations are installed.
    if (of_qt.load("qtbase_" + file, QLibraryInfo::path(QLibraryInfo::TranslationsPath)))
        QCoreApplication::installTranslator(&of_qt);
    set_translator([](const char* context, const char* text) {
        const QString words = of_window.translate(context, text);
        return words.isEmpty() ? std::string(text) : words.toStdString();
    });
}

}  // namespace debubble::gui
