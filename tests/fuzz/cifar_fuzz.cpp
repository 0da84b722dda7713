#include <cstdint>
#include <cstdlib>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "base/diagnostic.h"
#include "exec/io/data/images/image.h"

/// Any bytes are refused in words, or records of a known label and a whole picture.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace debubble::exec;
    const int memory = ::memfd_create("fuzz.bin", MFD_CLOEXEC);
    if (memory < 0 || ::write(memory, data, size) != static_cast<ssize_t>(size)) std::abort();
    try {
        const CifarImages images({"/proc/self/fd/" + std::to_string(memory)});
        if (images.size() * 3073 != static_cast<std::int64_t>(size)) std::abort();
        for (std::int64_t i = 0; i < images.size(); ++i) {
            if (images.label(i) < 0 || images.label(i) > 9) std::abort();
            if (images.image(i).pixels.size() != 3072) std::abort();
        }
    } catch (const debubble::InputError&) {
    }
    ::close(memory);
    return 0;
}
