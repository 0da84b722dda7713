#include "base/purposes.h"

namespace debubble {

Bytes total(const MemoryByClass& held) {
    Bytes sum;
    for (const Bytes bytes : held) sum += bytes;
    return sum;
}

std::string_view name_of(MemoryClass memory_class) {
    constexpr ArrayBy<MemoryClass, std::string_view, kMemoryClasses> kNames{
        "parameters", "gradients", "optimizer", "activations", "buffers", "workspace"};
    return kNames[memory_class];
}

}  // namespace debubble
