#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "schedule/action.h"

/// The labels inside bars. The letter repeats the meaning of the colour for colour-blind readers,
/// so numbers are dropped before letters. All labels of a view have one form.
namespace debubble::picture {

/// Nothing, "F", "F3" or "2F3".
enum class LabelForm : std::uint8_t { None, Letter, LetterAndNumber, StageToo };

/// The widths of the numbers in the labels of a view.
struct LabelNumbers {
    std::size_t digits = 1;  ///< letters of the longest microbatch number, such as "12" or "3.1"
    std::size_t stage_digits = 0;  ///< digits of the greatest stage; 0 if every rank has one stage
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

/// The longest form that fits into most bars, in its largest size. `widths` are the widths of the
/// visible bars; their order changes.
LabelStyle label_style(std::span<double> widths, const LabelNumbers& numbers,
                       const LabelFont& font);

/// The label of an action; empty for actions without one.
std::string label_of(const Action& action, LabelForm form);

/// The width of a label in widths of a digit.
double digits_wide(std::string_view label);

}  // namespace debubble::picture
