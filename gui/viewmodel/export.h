#pragma once

#include <optional>
#include <string>

#include "gui/viewmodel/command_line.h"
#include "gui/viewmodel/screen.h"
#include "sim/predict.h"
#include "trace/picture/shapes/svg.h"

/// Pictures and tables, made without Qt.
namespace debubble::gui {

/// A trace with the texts of its picture. A picture of several steps shows the median one; a table
/// and a trace contain all.
struct Exhibit {
    Trace trace;
    std::optional<Trace> median;  ///< of several steps
    Statistics statistics;        ///< statistics of the drawn step
    SvgOptions picture;
    const Trace& drawn() const { return median ? *median : trace; }
};

/// The exhibit of a trace that was read from a file.
Exhibit exhibit_of(Trace trace, const std::string& file);
Exhibit exhibit_of(const scenarios::Scenario& scenario, sim::PredictionWithTrace answer);

/// The exhibit of a file: a scenario is predicted, a trace is read. Throws InputError.
Exhibit read_exhibit(const std::string& file, const std::vector<std::string>& set);

/// The text of an exhibit in a format. Precondition: is_text_format(format).
std::string exported(const Exhibit& exhibit, ExportFormat format);

/// The screen's content as text. For a comparison it has both traces: SVG has two panels on one
/// axis, CSV a first column `trace` with their names, JSON is the output of `debubble compare`.
/// Throws InputError if there is nothing to write, or if two traces cannot be compared.
/// Precondition: is_text_format(format).
std::string exported(const Screen& screen, ExportFormat format);

/// The formats for exports of the screen, as filters of a file dialog: a name and an ending.
struct ExportChoice {
    ExportFormat format{};
    std::string name;    ///< such as "Table of actions"
    std::string ending;  ///< such as "csv"
};
std::vector<ExportChoice> export_choices(const Screen& screen);

/// Throws InputError if the folder of a file that is to be written does not exist.
void check_folder_of(const std::string& file);

/// Carries out `--export` to a text format; two files make one picture of two panels.
void export_text(const CommandLine& line);

}  // namespace debubble::gui
