#include <cstdint>
#include <cstdlib>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "base/diagnostic.h"
#include "trace/profile/formats/snapshot_peaks.h"

/// Any bytes as a memory snapshot: either an InputError, or peaks.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace debubble;
    const int file = memfd_create("fuzz.pickle", 0);
    if (file < 0 || write(file, data, size) != static_cast<ssize_t>(size)) std::abort();
    try {
        profile::snapshot_peaks("/proc/self/fd/" + std::to_string(file));
    } catch (const InputError&) {
    }
    close(file);
    return 0;
}
