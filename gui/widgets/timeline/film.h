#pragma once

#include <functional>
#include <stop_token>
#include <vector>

#include <QSize>
#include <QString>

#include "gui/viewmodel/command_line.h"
#include "gui/viewmodel/timeline/scene.h"
#include "gui/widgets/timeline/look.h"

namespace debubble::gui {

/// A step that is played, as a film: of one plan, or of two that run on one clock. It holds all
/// that its frames are painted from, so that any thread can write it.
struct Film {
    Scene scene;
    ViewState state;  ///< its axis is as wide as the lanes of the frames; the film runs through it
    Look look;
    QSize size;  ///< pixels of a frame
};

/// The instants of a film's frames, evenly over what is in sight, of which the last is its end.
std::vector<Instant> instants_of(const TimeAxis& axis, int frames_per_s);

/// Writes a film as a GIF, or by ffmpeg as WebM. `told` hears the share that is done, 0 to 1, from
/// the calling thread. Throws WorldError, such as where there is no ffmpeg; Cancelled.
/// Precondition: is_film_format(format).
void write_film(Film film, const QString& file, ExportFormat format,
                const std::stop_token& stop = {}, const std::function<void(double)>& told = {});

}  // namespace debubble::gui
