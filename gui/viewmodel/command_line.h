#pragma once

#include <optional>
#include <string>
#include <vector>

/// `debubble gui [--export FILE] [--set key=value]... [FILES]`, without Qt.
namespace debubble::gui {

/// The format of an exported picture or table, given by the ending of its file.
enum class ExportFormat { Svg, Csv, Json, Png, Pdf, Html, Gif, WebM };

struct PictureSize {
    int width = 0;
    int height = 0;
    friend bool operator==(const PictureSize&, const PictureSize&) = default;
};

struct CommandLine {
    std::vector<std::string> files;  ///< scenarios or traces, as given
    std::vector<std::string> set;    ///< key=value settings of the scenario
    std::optional<std::string> export_to;
    std::optional<PictureSize> size;  ///< size of a PNG, a PDF or a film
    bool links = false;               ///< pictures have lanes of the use of links
    bool help = false;
    bool version = false;
};

/// Reads the command line. Throws InputError with every mistake. Options of Qt itself (-platform X,
/// -style X, ...) are left for Qt.
CommandLine read_command_line(const std::vector<std::string>& words);

/// The format of a file. Throws InputError that names the known endings.
ExportFormat export_format_of(const std::string& file);

/// Whether the format is text, which needs no display, no fonts and no Qt.
bool is_text_format(ExportFormat format);

/// Whether the format is a film of the played step.
bool is_film_format(ExportFormat format);

std::string usage();

}  // namespace debubble::gui
