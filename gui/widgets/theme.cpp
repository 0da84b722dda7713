#include "gui/widgets/colours.h"

#include <QApplication>
#include <QPalette>
#include <QSettings>
#include <QStyle>

namespace debubble::gui {
namespace {

constexpr const char* kThemeKey = "window/theme";

/// The basic colours of a palette, from which the others are derived.
struct Base {
    QRgb window, base, button, text, disabled, highlight, highlighted_text, link;
};
constexpr Base kLight{0xFFF2F2F2, 0xFFFFFFFF, 0xFFE9E9E9, 0xFF1B1B1B,
                      0xFF8A8A8A, 0xFF2F6FD6, 0xFFFFFFFF, 0xFF1F4FA8};
constexpr Base kDark{0xFF2B2B2E, 0xFF1E1E20, 0xFF3A3A3E, 0xFFE8E8E8,
                     0xFF8C8C90, 0xFF3D78D8, 0xFFFFFFFF, 0xFF8FB4FF};

QPalette palette_of(const Base& base) {
    const QColor text = QColor::fromRgba(base.text);
    QPalette palette(QColor::fromRgba(base.button), QColor::fromRgba(base.window));
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText,
                            QPalette::ToolTipText, QPalette::BrightText})
        palette.setColor(role, text);
    palette.setColor(QPalette::Base, QColor::fromRgba(base.base));
    palette.setColor(QPalette::AlternateBase, QColor::fromRgba(base.window));
    palette.setColor(QPalette::ToolTipBase, QColor::fromRgba(base.button));
    palette.setColor(QPalette::Highlight, QColor::fromRgba(base.highlight));
    palette.setColor(QPalette::HighlightedText, QColor::fromRgba(base.highlighted_text));
    palette.setColor(QPalette::Link, QColor::fromRgba(base.link));
    QColor placeholder = text;
    placeholder.setAlpha(128);
    palette.setColor(QPalette::PlaceholderText, placeholder);
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        palette.setColor(QPalette::Disabled, role, QColor::fromRgba(base.disabled));
    return palette;
}

}  // namespace

void use_theme(WindowTheme theme) {
    static const QString started_with = QApplication::style()->name();
    static WindowTheme used = WindowTheme::System;
    if (theme == used) return;
    used = theme;
    QApplication::setStyle(theme == WindowTheme::System ? started_with : QString("Fusion"));
    QApplication::setPalette(theme == WindowTheme::Light  ? palette_of(kLight)
                             : theme == WindowTheme::Dark ? palette_of(kDark)
                                                          : QPalette());
}

WindowTheme remembered_theme() {
    const QString name = QSettings().value(kThemeKey).toString();
    return name == "light"  ? WindowTheme::Light
           : name == "dark" ? WindowTheme::Dark
                            : WindowTheme::System;
}

void remember_theme(WindowTheme theme) {
    QSettings().setValue(kThemeKey, theme == WindowTheme::Light  ? "light"
                                    : theme == WindowTheme::Dark ? "dark"
                                                                 : "system");
}

}  // namespace debubble::gui
