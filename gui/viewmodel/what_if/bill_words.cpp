#include "gui/viewmodel/what_if/bill_words.h"

#include "gui/viewmodel/timeline/words.h"

namespace debubble::gui {

std::string said_if_free(const std::string& if_free) {
    const auto before = [&](std::string_view end) {
        return if_free.substr(0, if_free.size() - end.size());
    };
    constexpr std::string_view kNoShorter = ", no shorter";
    constexpr std::string_view kShorter = " shorter";
    if (if_free.ends_with(kNoShorter))
        return filled(said("bill", "{}, no shorter"), before(kNoShorter));
    if (if_free.ends_with(kShorter)) return filled(said("bill", "{} shorter"), before(kShorter));
    return if_free;
}

}  // namespace debubble::gui
