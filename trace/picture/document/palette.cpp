#include "trace/picture/document/palette.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace debubble {
namespace {

Paint paint_of(const Compute& compute) {
    switch (compute.pass) {
        case Pass::Forward: return Paint::Forward;
        case Pass::Backward:
        case Pass::BackwardInput: return Paint::Backward;
        case Pass::BackwardWeight: return Paint::Weight;
    }
    return Paint::Forward;
}

/// Relative luminance of WCAG 2.
double luminance(Rgb c) {
    const auto linear = [](std::uint8_t channel) {
        const double v = channel / 255.0;
        return v <= 0.03928 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(c.red) + 0.7152 * linear(c.green) + 0.0722 * linear(c.blue);
}

}  // namespace

const Palette kLightPalette{{{{0x74, 0xC2, 0xF5},
                              {0x74, 0xC2, 0xF5},
                              {0xC1, 0x8E, 0x0B},
                              {0x03, 0x68, 0x38},
                              {0x9B, 0x3F, 0x85},
                              {0x53, 0x09, 0x3A},
                              {0xFC, 0xDC, 0x22},
                              {0xF4, 0xF4, 0xF4}}}};

const Palette kDarkPalette{{{{0x68, 0x85, 0xD2},
                             {0x68, 0x85, 0xD2},
                             {0xD7, 0x63, 0x06},
                             {0x2A, 0x62, 0x49},
                             {0xF8, 0xA2, 0xB8},
                             {0x83, 0x26, 0x76},
                             {0xFE, 0xEE, 0x45},
                             {0x1E, 0x22, 0x26}}}};

Paint paint_of(const Action& action) {
    return std::visit(Overloaded{
                          [](const Compute& c) { return paint_of(c); },
                          [](const Overlap& o) { return paint_of(o.first); },
                          [](const Recompute&) { return Paint::Recompute; },
                          [](const Send&) { return Paint::PointToPoint; },
                          [](const Recv&) { return Paint::PointToPoint; },
                          [](const OptimizerStep&) { return Paint::Optimizer; },
                          [](const auto&) { return Paint::Collective; },
                      },
                      action);
}

std::string_view name_of(Paint paint) {
    constexpr ArrayBy<Paint, std::string_view, kPaints> kNames{
        "forward (F)",    "recompute (R)",    "backward (B, I)", "weight gradient (W)",
        "point to point", "collective, copy", "optimizer",       "bubble"};
    return kNames[paint];
}

std::string hex(Rgb c) {
    return fmt::format("#{:02X}{:02X}{:02X}", c.red, c.green, c.blue);
}

double contrast(Rgb a, Rgb b) {
    const double one = luminance(a) + 0.05;
    const double other = luminance(b) + 0.05;
    return std::max(one, other) / std::min(one, other);
}

Rgb ink_on(Rgb colour) {
    constexpr Rgb kWhite{255, 255, 255};
    constexpr Rgb kBlack{0, 0, 0};
    return contrast(colour, kWhite) > contrast(colour, kBlack) ? kWhite : kBlack;
}

}  // namespace debubble
