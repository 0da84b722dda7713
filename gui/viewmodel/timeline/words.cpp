#include "gui/viewmodel/timeline/words.h"

#include <utility>

namespace debubble::gui {
namespace {

Translator& translator() {
    static Translator of_window;
    return of_window;
}

}  // namespace

void set_translator(Translator of_window) {
    translator() = std::move(of_window);
}

std::string said(const char* context, const std::string& text) {
    return translator() && !text.empty() ? translator()(context, text.c_str()) : text;
}

}  // namespace debubble::gui
