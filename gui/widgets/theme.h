#pragma once

/// The colours of the whole window: the system's, or light or dark ones of its own.
namespace debubble::gui {

enum class WindowTheme { System, Light, Dark };

/// Gives the application the colours of a theme. Light and Dark bring Qt's own style, whose widgets
/// have every colour of the palette; System goes back to the style that the program started with.
void use_theme(WindowTheme theme);

/// The theme that was chosen last, from the settings.
WindowTheme remembered_theme();
void remember_theme(WindowTheme theme);

}  // namespace debubble::gui
