#include <algorithm>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "scenarios/jobs/formats.h"
#include "scenarios/jobs/script_settings.h"
#include "scenarios/jobs/toml_document.h"
#include "scenarios/jobs/torchtitan.h"
#include "text/document_source.h"
#include "text/json_document_reader.h"

namespace debubble::jobs {

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
    }
    read_torchtitan(job);
}

}  // namespace debubble::jobs
