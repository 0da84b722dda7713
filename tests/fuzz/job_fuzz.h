#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/diagnostic.h"
#include "scenarios/jobs/job.h"

/// The body of the fuzz targets of jobs: a text is a scenario, or is refused in words; never more.
/// The file is taken to lie in an empty folder, so that no path in it leads anywhere.
namespace debubble::jobs {

inline int read_any(const std::uint8_t* data, std::size_t size, const std::string& file,
                    const std::string& format) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    try {
        import_text(
            text, "/nonexistent/folder/" + file, format,
            {{"cluster", "hgx-h100"}, {"gpus", "64"}, {"vocab", "32000"}, {"seq_length", "2048"}},
            "/nonexistent/folder");
    } catch (const InputError&) {
    }
    return 0;
}

}  // namespace debubble::jobs
