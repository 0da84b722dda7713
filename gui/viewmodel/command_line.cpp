#include "gui/viewmodel/command_line.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "base/diagnostic.h"

namespace debubble::gui {
namespace {

struct Ending {
    std::string_view text;
    ExportFormat format;
};
constexpr std::array kEndings{
    Ending{".svg", ExportFormat::Svg},   Ending{".csv", ExportFormat::Csv},
    Ending{".json", ExportFormat::Json}, Ending{".png", ExportFormat::Png},
    Ending{".pdf", ExportFormat::Pdf},   Ending{".html", ExportFormat::Html},
    Ending{".gif", ExportFormat::Gif},   Ending{".webm", ExportFormat::WebM}};

/// Qt's own options that take a value as the next word.
constexpr std::array<std::string_view, 6> kQtOptions{"-platform", "-style",    "-stylesheet",
                                                     "-display",  "-geometry", "-qwindowgeometry"};

constexpr int kMostPixels = 8000;  ///< longest side of a picture, in pixels

class Reader {
public:
    explicit Reader(const std::vector<std::string>& words) : words_(words) {}

    CommandLine read() {
        while (at_ < words_.size()) take(words_[at_++]);
        if (line_.export_to && !line_.help) check_export();
        if (!mistakes_.empty()) throw InputError(std::move(mistakes_));
        return std::move(line_);
    }

private:
    void complain(std::string sentence) { mistakes_.push_back({{}, std::move(sentence), {}}); }

    void take(const std::string& word) {
        if (word == "--help" || word == "-h")
            line_.help = true;
        else if (word == "--version")
            line_.version = true;
        else if (word == "--links")
            line_.links = true;
        else if (is_option(word, "--export"))
            line_.export_to = value_of(word, "--export");
        else if (is_option(word, "--size"))
            read_size(value_of(word, "--size"));
        else if (is_option(word, "--set"))
            line_.set.push_back(value_of(word, "--set"));
        else if (std::ranges::find(kQtOptions, word) != kQtOptions.end())
            ++at_;
        else if (word.starts_with("--"))
            unknown(word);
        else
            line_.files.push_back(word);
    }

    static bool is_option(const std::string& word, std::string_view name) {
        return word == name || word.starts_with(fmt::format("{}=", name));
    }

    std::string value_of(const std::string& word, std::string_view name) {
        if (word.size() > name.size()) return word.substr(name.size() + 1);
        if (at_ < words_.size()) return words_[at_++];
        complain(fmt::format("{} needs a value (see debubble gui --help)", name));
        return {};
    }

    /// Reads a size such as "1920x1080".
    void read_size(const std::string& text) {
        PictureSize size;
        char between = 0;
        std::istringstream in(text);
        const bool read = bool(in >> size.width >> between >> size.height) && in.eof();
        const auto possible = [](int side) { return 64 <= side && side <= kMostPixels; };
        if (read && between == 'x' && possible(size.width) && possible(size.height))
            line_.size = size;
        else
            complain(
                fmt::format("'{}' is not a picture size: --size takes WIDTHxHEIGHT in pixels, 64 "
                            "to {}, such as 1920x1080",
                            text, kMostPixels));
    }

    void unknown(const std::string& word) {
        static const std::array<std::string, 6> known{"--export", "--size", "--set",
                                                      "--links",  "--help", "--version"};
        const auto guess = did_you_mean(word.substr(0, word.find('=')), known);
        complain(fmt::format("gui takes no '{}'{} (see debubble gui --help)", word,
                             guess ? fmt::format("; did you mean '{}'?", *guess) : ""));
    }

    void check_export() {
        if (line_.files.empty())
            complain("--export needs a scenario or a trace to write (see debubble gui --help)");
        try {
            (void)export_format_of(*line_.export_to);
        } catch (const InputError& error) {
            complain(error.diagnostics().front().message);
        }
    }

    const std::vector<std::string>& words_;
    std::size_t at_ = 0;
    CommandLine line_;
    std::vector<Diagnostic> mistakes_;
};

}  // namespace

CommandLine read_command_line(const std::vector<std::string>& words) {
    return Reader(words).read();
}

ExportFormat export_format_of(const std::string& file) {
    const std::string ending = std::filesystem::path(file).extension().string();
    for (const Ending& known : kEndings)
        if (ending == known.text) return known.format;
    std::vector<std::string_view> endings;
    for (const Ending& known : kEndings) endings.push_back(known.text);
    throw InputError(fmt::format("'{}' cannot be exported to: its name must end in one of {}", file,
                                 fmt::join(endings, ", ")));
}

bool is_text_format(ExportFormat format) {
    return format == ExportFormat::Svg || format == ExportFormat::Csv ||
           format == ExportFormat::Json || format == ExportFormat::Html;
}

bool is_film_format(ExportFormat format) {
    return format == ExportFormat::Gif || format == ExportFormat::WebM;
}

std::string usage() {
    return R"(usage: debubble gui [--export FILE [--size WxH]] [--set key=value]... [FILE]...

A FILE is a scenario (YAML, or the name of a shipped one) or a trace (Chrome JSON, as simulate and run
write it). Two traces are compared: the first is A, the second B.

  --export FILE      write a picture or a table and end, without a window; by its ending:
                     .svg, .png, .pdf, .html (a page to mail: to zoom and to play),
                     .gif (the step as it is played, two plans on one clock), .webm (the same, by
                     ffmpeg), .json (a trace for Perfetto), .csv (a row per action)
  --size WIDTHxHEIGHT  of a .png, .pdf, .gif or .webm, in pixels of the screen (a .png has two for
                     each); unless said, 1920 wide, a film 1280, and as high as its rows
  --links            draw how much of its links each rank uses, inside its node and on the network
  --set key=value    change a key of the scenario, as parallel.tensor=4
  --help, --version

Examples:
  debubble gui gpt2-xl
  debubble gui simulated.trace.json executed.trace.json
  debubble gui --export plan.png gpt2-xl --set schedule=zb-h1
  debubble gui --export race.gif gpt2-xl-1f1b gpt2-xl-zb-v

Exit codes: 0 done, 2 the input is wrong, 3 the world failed (no display, disk full).
)";
}

}  // namespace debubble::gui
