#include <cstddef>
#include <cstdint>
#include <string>

#include "base/diagnostic.h"
#include "scenarios/read/read_scenario.h"

/// Any text is a scenario and a grid, or is refused in words; never more. The file is
/// taken to lie in an empty folder, so that no path in it leads anywhere.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace debubble;
    const std::string text(reinterpret_cast<const char*>(data), size);
    constexpr const char* kFile = "/nonexistent/folder/fuzz.yaml";
    try {
        scenarios::parse_scenario(text, kFile);
    } catch (const InputError&) {
    }
    try {
        const scenarios::Sweep sweep = scenarios::parse_sweep(text, kFile);
        for (std::size_t i = 0; i < sweep.points() && i < 20; ++i)
            if (sweep.admits(i)) scenarios::parse_scenario(text, kFile, sweep.point(i));
    } catch (const InputError&) {
    }
    return 0;
}
