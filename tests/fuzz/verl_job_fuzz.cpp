#include "job_fuzz.h"

/// Any text is a launch script, or is refused in words.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return debubble::jobs::read_any(data, size, "fuzz.sh", "verl");
}
