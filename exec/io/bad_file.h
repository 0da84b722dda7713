#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "base/diagnostic.h"

namespace debubble::exec {

/// The error to throw when a file as a whole, or a place in it that has no line, is wrong:
/// "train.bin: error: ...". The sentence gives the numbers.
inline InputError bad_file(const std::filesystem::path& file, std::string sentence) {
    return InputError({{{file.string(), 0, 0}, std::move(sentence), {}}});
}

}  // namespace debubble::exec
