#include "job_fuzz.h"

/// Any text is a job of this framework, or is refused in words.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return debubble::jobs::read_any(data, size, "fuzz.yaml", "automodel");
}
