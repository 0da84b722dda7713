#pragma once

#include <QList>
#include <QString>

namespace debubble::gui {

/// A language that the window speaks.
struct Language {
    QString code;  ///< "de", as QLocale names it; empty for the language of the system
    QString name;  ///< in itself: "Deutsch"
};
/// English, and those that gui/translations has.
QList<Language> languages();

/// The one that a person chose; empty for that of the system.
QString remembered_language();
void remember_language(const QString& code);

/// Lets the window and the view-model speak a language of languages(); an unknown one or the
/// system's, where there is no translation for it, is English. It must be set before the first
/// window and the first worker are made, since texts are made by both.
void speak(const QString& code);

}  // namespace debubble::gui
