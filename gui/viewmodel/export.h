#pragma once

#include <string>

#include "gui/viewmodel/command_line.h"
#include "sim/predict.h"
#include "trace/picture/svg.h"

/// Pictures and tables that are made without Qt.
namespace debubble::gui {

/// A trace with the texts of its picture.
struct Exhibit {
    Trace trace;
    Statistics statistics;
    SvgOptions picture;
};

/// The exhibit of a trace that was read from a file.
Exhibit exhibit_of(Trace trace, const std::string& file);
Exhibit exhibit_of(const scenarios::Scenario& scenario, sim::PredictionWithTrace answer);

/// The exhibit of a file: a scenario is predicted, a trace is read. Throws InputError.
Exhibit read_exhibit(const std::string& file, const std::vector<std::string>& set);

/// The text of an exhibit in a format. Precondition: is_text_format(format).
std::string exported(const Exhibit& exhibit, ExportFormat format);

/// Carries out `--export` to a text format; two files make one picture of two panels.
void export_text(const CommandLine& line);

}  // namespace debubble::gui
