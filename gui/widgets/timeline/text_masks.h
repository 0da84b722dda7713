#pragma once

#include <string>
#include <unordered_map>

#include <QFont>

#include "gui/viewmodel/timeline/document.h"
#include "trace/picture/raster.h"

namespace debubble::gui {

/// Labels of bars, each text rendered once: a frame has thousands of labels, but few different
/// texts.
class TextMasks {
public:
    /// `font` has its pixel size in device pixels.
    explicit TextMasks(const QFont& font);

    const Mask& mask(const std::string& text);
    const QFont& font() const { return font_; }

private:
    QFont font_;
    std::unordered_map<std::string, Mask> masks_;
};

}  // namespace debubble::gui
