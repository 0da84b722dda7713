#include "scenarios/jobs/job.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.h"
#include "scenarios/framework_checks.h"
#include "scenarios/jobs/formats.h"
#include "scenarios/read_scenario.h"
#include "text/document_source.h"
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
                               {"accelerate", "accelerate", read_accelerate_job}};

const Format& format_named(const std::string& word) {
    for (const Format& format : kFormats)
        if (format.word == word) return format;
    throw InputError(text::unknown_word("format of jobs", word, job_formats()));
}

/// The scenario must be one; its mistakes are shown in its text, whose lines say whence they come.
scenarios::Scenario checked_scenario(const Imported& imported, const fs::path& folder) {
    return scenarios::parse_scenario(imported.text, (folder / "imported scenario").string());
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
    const std::string stem = file.stem().string();
    job.set("name", flow_text(stem.empty() ? "job" : stem));
    reader.read({std::move(text), file, folder}, job);
    const std::string word(reader.word);
    const auto scenario = checked_scenario(job.finish(word, reader.tool), folder);
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
