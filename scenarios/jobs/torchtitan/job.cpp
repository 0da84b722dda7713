#include <algorithm>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "scenarios/jobs/read/formats.h"
#include "scenarios/jobs/read/script_settings.h"
#include "scenarios/jobs/torchtitan/torchtitan.h"
#include "text/document_readers.h"

namespace debubble::jobs {
namespace {

/// The TOML that a script's --job.config_file names, beside the script or in a folder above it.
void add_config_file(const JobText& text, Reading& job) {
    const Setting* const named = job.in.find("job.config_file");
    if (named == nullptr || !named->known || !named->value->is(text::Node::Kind::Scalar)) return;
    const std::string name = named->value->scalar;
    std::error_code error;
    std::filesystem::path folder = std::filesystem::absolute(text.file, error).parent_path();
    for (int up = 0; up < 6; ++up, folder = folder.parent_path()) {
        const std::filesystem::path file = folder / name;
        if (!std::filesystem::is_regular_file(file, error)) continue;
        Settings all;
        add_keys(*parse_toml(read_file(file, text::kLongestDocument), file.string()), true, all);
        for (const Setting& setting : job.in.all()) all.add(setting);  // flags win
        all.mistakes = std::move(job.in.mistakes);
        job.in = std::move(all);
        return;
    }
    job.note(*named, "this file does not exist; its settings are unknown");
}

}  // namespace

void read_torchtitan_job(const JobText& text, Reading& job) {
    const std::string ending = text.file.extension().string();
    if (ending == ".toml" || ending == ".json") {
        const text::NodePtr root = ending == ".toml"
                                       ? parse_toml(text.text, text.file.string())
                                       : text::parse_json(text.text, text.file.string());
        if (!root->is(text::Node::Kind::Map))
            throw InputError({{{text.file.string(), 0, 0}, "the file has no sections", {}}});
        add_keys(*root, true, job.in);
    } else {
        add_script(text::checked_source(text.text, text.file.string()), job);
        add_config_file(text, job);
    }
    read_torchtitan(job);
}

}  // namespace debubble::jobs
