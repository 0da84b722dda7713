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

/// The film of a played step, of one plan or of two on one clock. It contains all data of its
/// frames, so that any thread can write it.
struct Film {
    Scene scene;
    ViewState state;  ///< its axis has the width of the frames' lanes and the range of the film
    Look look;
    QSize size;  ///< pixels of a frame
};

/// The instants of a film's frames, evenly over the view up to its end.
std::vector<Instant> instants_of(const TimeAxis& axis, int frames_per_s);

/// Writes a film as a GIF, or by ffmpeg as WebM. Calls `told` with the done share, 0 to 1, in the
/// calling thread. Throws WorldError, such as without ffmpeg, and Cancelled.
/// Precondition: is_film_format(format).
void write_film(Film film, const QString& file, ExportFormat format,
                const std::stop_token& stop = {}, const std::function<void(double)>& told = {});

}  // namespace debubble::gui
