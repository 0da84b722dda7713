#include <cstddef>
#include <cstdint>
#include <string>

#include "base/diagnostic.h"
#include "models/counts/counts.h"
#include "models/graph/graph.h"
#include "models/hf/hf_config.h"
#include "text/document_readers.h"

/// Any text is a config.json whose parameters can be counted, or is refused in words.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace debubble;
    using namespace debubble::models;
    try {
        text::Mistakes mistakes;
        const text::NodePtr root =
            text::parse_json({reinterpret_cast<const char*>(data), size}, "config.json");
        const Architecture model = read_hf_config(root, mistakes);
        mistakes.throw_if_any();
        if (parameter_count(model) <= 0) __builtin_trap();
    } catch (const debubble::InputError&) {
    }
    return 0;
}
