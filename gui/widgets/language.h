#pragma once

#include <QList>
#include <QString>

namespace debubble::gui {

/// A language that the window speaks.
struct Language {
    QString code;  ///< "de", as QLocale names it; empty for the language of the system
    QString name;  ///< in the language itself: "Deutsch"
};
/// English and the languages of gui/translations.
QList<Language> languages();

/// The language that the user chose; empty for that of the system.
QString remembered_language();
void remember_language(const QString& code);

/// Sets the language of the window and the view-model to one of languages(). Languages without a
/// translation become English. Precondition: no window and no worker exists yet, since both make
/// texts.
void speak(const QString& code);

}  // namespace debubble::gui
