#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/diagnostic.h"
#include "exec/io/checkpoint/manifest.h"

/// Any text is refused in words, or is a manifest that reads back as it was written. A text with an
/// open seal is sealed first, since no trial finds a SHA-256.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace debubble::exec;
    std::string text(reinterpret_cast<const char*>(data), size);
    if (text.find(kOpenSeal) != std::string::npos) text = sealed(std::move(text));
    try {
        const Manifest manifest = parse_manifest(std::move(text), "manifest.json");
        if (parse_manifest(manifest_json(manifest), "again.json") != manifest) std::abort();
    } catch (const debubble::InputError&) {
    }
    return 0;
}
