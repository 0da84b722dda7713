#include "sim/report/figures.h"

#include <fmt/format.h>

#include "text/wording.h"

namespace debubble::sim {

std::string figure_text(double value, FigureUnit unit) {
    switch (unit) {
        case FigureUnit::Seconds: return text::time_text(value);
        case FigureUnit::Bytes: return fmt::format("{:.2f} GiB", value / (1024.0 * 1024 * 1024));
        case FigureUnit::Rate: return text::rate_text(value);
        case FigureUnit::Share: break;
    }
    return text::percent(value);
}

}  // namespace debubble::sim
