#pragma once

#include <filesystem>

namespace debubble {

/// Where the project's sources lie. Said in one file, so that compilers' caches serve every clone.
std::filesystem::path source_folder();

}  // namespace debubble
