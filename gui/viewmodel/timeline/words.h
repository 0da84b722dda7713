#pragma once

#include <functional>
#include <string>

#include <fmt/format.h>

/// The texts of the view-model in the language of the window. The English text in the code is also
/// the key of its translations in gui/translations.
namespace debubble::gui {

/// Gives the translation of a text in a context; the text itself where there is none.
using Translator = std::function<std::string(const char* context, const char* text)>;

/// Sets the language of all later texts. Precondition: no other thread makes any.
void set_translator(Translator translator);

/// The text in the language of the window.
std::string said(const char* context, const std::string& text);

/// A text with its placeholders filled in, which are fmt's. A translation may name them in another
/// order: "{1} of {0}".
template <class... Args>
std::string filled(const std::string& text, const Args&... args) {
    return fmt::vformat(text, fmt::make_format_args(args...));
}

}  // namespace debubble::gui
