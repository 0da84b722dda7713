#include "base/purposes.h"

namespace debubble {

Bytes total(const MemoryByClass& held) {
    Bytes sum;
    for (const Bytes bytes : held) sum += bytes;
    return sum;
}

std::string_view name_of(MemoryClass memory_class) {
    constexpr std::array<std::string_view, kMemoryClasses> kNames{
        "parameters", "gradients", "optimizer", "activations", "buffers", "workspace"};
    return kNames[static_cast<std::size_t>(memory_class)];
}

}  // namespace debubble
