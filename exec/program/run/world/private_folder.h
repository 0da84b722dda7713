#pragma once

#include <filesystem>

namespace debubble::exec {

/// A folder of this host that only this user can read or write, for messages between the user's
/// processes: the folder of the login (XDG_RUNTIME_DIR), else one among the temporary files. It is
/// made if it does not exist. Throws WorldError if another user owns it.
std::filesystem::path private_folder();

}  // namespace debubble::exec
