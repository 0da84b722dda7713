#pragma once

#include <string>

#include "gui/viewmodel/command_line.h"
#include "sim/predict.h"
#include "trace/picture/svg.h"

/// Pictures and tables that are made without Qt.
namespace debubble::gui {

/// A trace with what a picture of it says.
struct Exhibit {
    Trace trace;
    Statistics statistics;
    SvgOptions picture;
};

/// Of a trace as it was read.
Exhibit exhibit_of(Trace trace, const std::string& file);
Exhibit exhibit_of(const scenarios::Scenario& scenario, sim::PredictionWithTrace answer);

/// A scenario is predicted, a trace is read. Throws InputError.
Exhibit read_exhibit(const std::string& file, const std::vector<std::string>& set);

/// Precondition: is_text_format(format).
std::string exported(const Exhibit& exhibit, ExportFormat format);

/// Carries out `--export` to a text format; two files make one picture of two panels.
void export_text(const CommandLine& line);

}  // namespace debubble::gui
