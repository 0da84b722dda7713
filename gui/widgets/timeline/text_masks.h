#pragma once

#include <string>
#include <unordered_map>

#include <QFont>

#include "gui/viewmodel/timeline/raster.h"

namespace debubble::gui {

/// Labels of bars, each rendered once: thousands of them stand in a frame, of few different texts.
class TextMasks {
public:
    /// `font`: its pixel size is in device pixels.
    explicit TextMasks(const QFont& font);

    const Mask& mask(const std::string& text);
    double letter_width() const { return letter_width_; }  ///< of a digit, device pixels
    const QFont& font() const { return font_; }

private:
    QFont font_;
    double letter_width_ = 1;
    std::unordered_map<std::string, Mask> masks_;
};

}  // namespace debubble::gui
