#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "schedule/action.h"

/// The labels inside bars. The letter says again what the colour says, for those who cannot tell
/// the colours apart; so numbers are dropped before letters, and one view has one form of label.
namespace debubble::picture {

/// Nothing, "F", "F3" or "2F3".
enum class LabelForm : std::uint8_t { None, Letter, LetterAndNumber, StageToo };

/// The numbers that labels of a view have to have room for.
struct LabelNumbers {
    std::size_t digits = 1;        ///< letters of the longest microbatch, such as "12" or "3.1"
    std::size_t stage_digits = 0;  ///< digits of the greatest stage; 0 where a rank has one stage
};

struct LabelFont {
    double digit = 0.64;  ///< width of a digit, in font sizes
    int smallest = 7;
    int largest = 11;
};

struct LabelStyle {
    LabelForm form = LabelForm::None;
    int size = 0;  ///< size of the font
};

/// The longest form, and its largest size, that has room in most bars. `widths` are those of the
/// bars in sight; their order changes.
LabelStyle label_style(std::span<double> widths, const LabelNumbers& numbers,
                       const LabelFont& font);

/// The label of an action; empty for actions without one.
std::string label_of(const Action& action, LabelForm form);

/// Width of a label in digits.
double digits_wide(std::string_view label);

}  // namespace debubble::picture
