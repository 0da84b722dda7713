#pragma once

#include <filesystem>

namespace debubble::exec {

/// A folder of this host that only this user can read or write, for what its processes tell each
/// other: that of the login (XDG_RUNTIME_DIR), else one of the temporary files. Makes it if there
/// is none. Throws WorldError where somebody else has it.
std::filesystem::path private_folder();

}  // namespace debubble::exec
