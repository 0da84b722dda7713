#pragma once

#include <string>

#include <QApplication>
#include <QImage>
#include <QPalette>

#include "gui/widgets/timeline/timeline_view.h"
#include "scenarios/read/read_scenario.h"
#include "sim/predict.h"

namespace debubble::gui {

inline Document predicted(const std::string& scenario,
                          const std::vector<scenarios::Override>& set = {}) {
    sim::PredictOptions options;
    options.play_allocator = false;
    sim::PredictionWithTrace answer =
        sim::predict(scenarios::read_scenario(scenario, set), options);
    return make_document(std::move(answer.trace), std::move(answer.statistics),
                         answer.memory_limit);
}

/// The palette of a dark desktop.
inline QPalette dark_palette() {
    QPalette palette;
    palette.setColor(QPalette::Window, QColor(30, 33, 36));
    palette.setColor(QPalette::WindowText, Qt::white);
    palette.setColor(QPalette::Base, QColor(22, 24, 27));
    palette.setColor(QPalette::Text, Qt::white);
    return palette;
}

inline std::size_t count(const QImage& image, Rgb colour) {
    std::size_t pixels = 0;
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x)
            pixels += (image.pixel(x, y) | 0xff000000U) == pixel(colour) ? 1 : 0;
    return pixels;
}

}  // namespace debubble::gui
