#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/diagnostic.h"
#include "exec/io/checkpoint/safetensors.h"

/// Any bytes are a safetensors file whose tensors lie inside it, each where the one before
/// ends, or are refused in words.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace debubble::exec;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    try {
        const SafetensorsHeader header = parse_safetensors(bytes, "fuzz.safetensors");
        std::int64_t end = header.bytes;
        for (const SafetensorsEntry& entry : header.entries) {
            if (entry.begin != end) std::abort();
            if (elements_of(entry.shape) * size_of(entry.type) != entry.bytes) std::abort();
            end += entry.bytes;
        }
        if (end != static_cast<std::int64_t>(size)) std::abort();
    } catch (const debubble::InputError&) {
    }
    return 0;
}
