#pragma once

#include <QColor>
#include <QPalette>

#include "trace/picture/document/palette.h"

/// Colours that the system's palette does not have, for both of its themes.
namespace debubble::gui {

inline bool is_dark(const QPalette& palette) {
    return palette.color(QPalette::Window).lightness() < 128;
}

inline QColor colour_of(Rgb rgb) {
    return {rgb.red, rgb.green, rgb.blue};
}

/// A colour of warnings that is readable as text on a window (WCAG AA).
inline QColor warning_colour(const QPalette& palette) {
    return is_dark(palette) ? QColor(0xFF9C8F) : QColor(0xB3261E);
}
inline QColor good_colour(const QPalette& palette) {
    return is_dark(palette) ? QColor(0x8FD9A0) : QColor(0x176B2C);
}

/// Corrects placeholders: some themes of the system leave those of a dark palette as dark as those
/// of a light one.
void make_placeholders_legible();

/// A colour between two: 0 gives `a`, 1 gives `b`.
inline QColor between(const QColor& a, const QColor& b, double share) {
    const auto mix = [share](double x, double y) { return x + (y - x) * share; };
    return QColor::fromRgbF(float(mix(a.redF(), b.redF())), float(mix(a.greenF(), b.greenF())),
                            float(mix(a.blueF(), b.blueF())));
}

enum class WindowTheme { System, Light, Dark };

/// Gives the application the colours of a theme. Light and Dark bring Qt's own style, whose widgets
/// have every colour of the palette; System goes back to the style that the program started with.
void use_theme(WindowTheme theme);

/// The theme that was chosen last, from the settings.
WindowTheme remembered_theme();
void remember_theme(WindowTheme theme);

}  // namespace debubble::gui
