#pragma once

#include <optional>
#include <string>
#include <vector>

/// `debubble gui [--export FILE] [--set key=value]... [FILES]`, without Qt.
namespace debubble::gui {

/// What a picture or a table is written as; by the ending of its file.
enum class ExportFormat { Svg, Csv, Json, Png, Pdf };

struct PictureSize {
    int width = 0;
    int height = 0;
    friend bool operator==(const PictureSize&, const PictureSize&) = default;
};

struct CommandLine {
    std::vector<std::string> files;  ///< scenarios or traces, as given
    std::vector<std::string> set;    ///< key=value of the scenario
    std::optional<std::string> export_to;
    std::optional<PictureSize> size;  ///< of what is exported as PNG or PDF
    bool help = false;
    bool version = false;
};

/// Throws InputError with every mistake. Options of Qt itself (-platform X, -style X, ...) are
/// left for Qt.
CommandLine read_command_line(const std::vector<std::string>& words);

/// Throws InputError, naming the endings there are.
ExportFormat export_format_of(const std::string& file);

/// Nobody needs a display, fonts or Qt for it.
bool is_text_format(ExportFormat format);

std::string usage();

}  // namespace debubble::gui
