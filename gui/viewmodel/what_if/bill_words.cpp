#include "gui/viewmodel/what_if/bill_words.h"

#include <fmt/format.h>

#include "gui/viewmodel/timeline/words.h"
#include "text/wording.h"

namespace debubble::gui {

std::string takes_words(const sim::BillRow& row) {
    const std::string time = text::time_text(row.part.takes);
    return row.whole ? time : fmt::format("{}, {}", time, text::percent(row.share));
}

std::string without_part_text(const sim::BillRow& row) {
    if (!row.part.if_free) return {};
    const std::string time = text::time_text(*row.part.if_free);
    return row.is_shorter()
               ? filled(said("bill", "{}, {} shorter"), time, text::percent(*row.shorter))
               : filled(said("bill", "{}, no shorter"), time);
}

}  // namespace debubble::gui
