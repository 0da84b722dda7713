#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "base/diagnostic.h"
#include "trace/io/trace_formats.h"
#include "trace/picture/shapes/svg.h"

/// Any bytes: either an InputError, or a trace that writes and reads as itself
/// and that can be summed up and drawn.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace debubble;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        const Trace trace = read_chrome_trace(text, "fuzz.json");
        std::ostringstream written;
        write_chrome_trace(trace, written);
        if (read_chrome_trace(written.str(), "again.json") != trace) std::abort();
        std::ostringstream picture;
        write_svg(trace, statistics(trace), {}, picture);
    } catch (const InputError&) {
    }
    return 0;
}
