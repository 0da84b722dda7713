#include "trace/picture/labels.h"

#include <algorithm>

#include <fmt/format.h>

namespace debubble::picture {
namespace {

constexpr double kFittingShare = 0.75;  ///< share of the bars that their label must fit into
constexpr double kFreeOfLabel = 3;      ///< pixels of a bar that a label leaves free
constexpr double kWidestLetter = 1.55;  ///< width of a W in digits
constexpr int kSmallestWithStage = 9;   ///< smallest size of a label with its stage

std::string label(char letter, Stage stage, const MicroBatch& micro_batch, LabelForm form) {
    std::string text(1, letter);
    if (form >= LabelForm::LetterAndNumber) text += to_text(micro_batch);
    return form == LabelForm::StageToo ? std::to_string(stage.index) + text : text;
}

std::string label_of(const Compute& c, LabelForm form) {
    return label(letter_of(c.pass), c.stage, c.micro_batch, form);
}

double digits_of(LabelForm form, const LabelNumbers& numbers) {
    double digits = kWidestLetter;
    if (form >= LabelForm::LetterAndNumber) digits += static_cast<double>(numbers.digits);
    if (form == LabelForm::StageToo) digits += static_cast<double>(numbers.stage_digits);
    return digits;
}

}  // namespace

LabelStyle label_style(std::span<double> widths, const LabelNumbers& numbers,
                       const LabelFont& font) {
    if (widths.empty()) return {};
    const auto rank =
        static_cast<std::ptrdiff_t>((1 - kFittingShare) * static_cast<double>(widths.size() - 1));
    std::ranges::nth_element(widths, widths.begin() + rank);
    const double room = widths[rank];
    for (const LabelForm form :
         {LabelForm::StageToo, LabelForm::LetterAndNumber, LabelForm::Letter}) {
        const bool stage = form == LabelForm::StageToo;
        if (stage && numbers.stage_digits == 0) continue;
        const int smallest =
            stage ? std::min(font.largest, std::max(font.smallest, kSmallestWithStage))
                  : font.smallest;
        for (int size = font.largest; size >= smallest; --size)
            if (digits_of(form, numbers) * font.digit * size + kFreeOfLabel <= room)
                return {form, size};
    }
    return {};
}

std::string label_of(const Action& action, LabelForm form) {
    if (form == LabelForm::None) return {};
    return std::visit(
        Overloaded{
            [&](const Compute& c) { return label_of(c, form); },
            [&](const Overlap& o) { return label_of(o.first, form); },
            [&](const Recompute& r) { return label('R', r.stage, r.micro_batch, form); },
            [](const OptimizerStep&) { return std::string("opt"); },
            [](const auto&) { return std::string(); },
        },
        action);
}

double digits_wide(std::string_view label) {
    double digits = 0;
    for (const char c : label)
        digits += c == 'W' ? kWidestLetter : c == 'I' || c == '.' ? 0.5 : 1.05;
    return digits;
}

}  // namespace debubble::picture
