#include "scenarios/jobs/job.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "scenarios/check/framework_checks.h"
#include "scenarios/jobs/read/formats.h"
#include "scenarios/jobs/read/script_settings.h"
#include "scenarios/read/read_scenario.h"
#include "text/document_readers.h"
#include "text/mapping_reader.h"
#include "text/shipped_files.h"

namespace debubble::jobs {
namespace {

namespace fs = std::filesystem;

struct Format {
    std::string_view word;
    std::string_view tool;
    void (*read)(const JobText&, Reading&);
};

constexpr Format kFormats[] = {{"megatron", "Megatron-LM", read_megatron_job},
                               {"bridge", "Megatron-Bridge", read_bridge_job},
                               {"torchtitan", "torchtitan", read_torchtitan_job},
                               {"deepspeed", "DeepSpeed", read_deepspeed_job},
                               {"colossalai", "Colossal-AI", read_colossalai_job},
                               {"primus", "Primus", read_primus_job},
                               {"accelerate", "accelerate", read_accelerate_job},
                               {"automodel", "NeMo Automodel", read_automodel_job},
                               {"ms-swift", "ms-swift", read_swift_job},
                               {"nanotron", "nanotron", read_nanotron_job},
                               {"gpt-neox", "GPT-NeoX", read_neox_job},
                               {"verl", "verl", read_verl_job}};

const Format& format_named(const std::string& word) {
    for (const Format& format : kFormats)
        if (format.word == word) return format;
    throw InputError(text::unknown_word("format of jobs", word, job_formats()));
}

/// The scenario, which must be one. A mistake in it is shown where the job says what is wrong, if
/// it does, and else in the scenario's text.
scenarios::Scenario checked_scenario(const Imported& imported, const fs::path& folder,
                                     const Reading& job) {
    try {
        return scenarios::parse_scenario(imported.text, (folder / "imported scenario").string());
    } catch (const InputError& error) {
        std::vector<Diagnostic> found = error.diagnostics();
        for (Diagnostic& diagnostic : found) {
            const std::string& line = diagnostic.source_line;
            const std::size_t mark = line.find("  # ");
            if (mark == std::string::npos) continue;
            const auto place = job.places().find(line.substr(mark + 4));
            const std::size_t first = line.find_first_not_of(' ');
            const std::string key = line.substr(first, mark - first);
            diagnostic.message += fmt::format(" (it is planned as '{}')", key);
            if (place == job.places().end()) continue;
            diagnostic.where = location_of(place->second);
            diagnostic.source_line = line_at(place->second);
        }
        throw InputError(std::move(found));
    }
}

/// Values that name files, from the folder where the program runs, as seen from another one.
std::vector<scenarios::Override> seen_from(const fs::path& folder,
                                           std::vector<scenarios::Override> given) {
    std::error_code error;
    for (auto& [key, value] : given)
        if ((key == "model" || key == "cluster" || key == "framework") && text::is_path(value) &&
            fs::path(value).is_relative() && fs::exists(value, error))
            value = fs::proximate(value, folder.empty() ? fs::path(".") : folder, error).string();
    return given;
}

}  // namespace

std::vector<std::string> job_formats() {
    std::vector<std::string> words;
    for (const Format& format : kFormats) words.emplace_back(format.word);
    return words;
}

Imported import_text(std::string text, const fs::path& file, const std::string& format,
                     const std::vector<scenarios::Override>& given, const fs::path& folder,
                     const ImportOptions& options) {
    if (text.size() > text::kLongestDocument)
        throw InputError({{{file.string(), 0, 0},
                           fmt::format("the job is longer than {} bytes", text::kLongestDocument),
                           {}}});
    const Format& reader = format_named(format.empty() ? recognised_format(text, file) : format);
    Reading job(file.filename().string(), seen_from(folder, given));
    job.allow(options.allow);
    job.started = options.started;
    const std::string stem = file.stem().string();
    job.set("name", flow_text(stem.empty() ? "job" : stem));
    reader.read({std::move(text), file, folder}, job);
    read_allocator(job);
    const std::string word(reader.word);
    const auto scenario = checked_scenario(job.finish(word, reader.tool), folder, job);
    for (const scenarios::FrameworkRefusal& one : scenarios::framework_refusals(scenario))
        if (!job.has_judged(one.place)) job.note(refusal_text(one), Harm::Refused);
    return job.finish(word, reader.tool);
}

Imported import_job(const fs::path& file, const std::string& format,
                    const std::vector<scenarios::Override>& given, const fs::path& folder,
                    const ImportOptions& options) {
    return import_text(read_file(file, text::kLongestDocument), file, format, given, folder,
                       options);
}

}  // namespace debubble::jobs
