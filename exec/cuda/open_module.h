#pragma once

#include <dlfcn.h>

#include <optional>
#include <string>

#include "base/diagnostic.h"

namespace debubble::exec {

/// A part of the program that is loaded when it is asked for, since what it needs is not
/// everywhere.
struct OpenedModule {
    void* module = nullptr;  ///< never closed: what it threw or made may outlive whoever asked
    bool exists = false;
    std::string why;  ///< it could not be opened though it exists

    /// A sentence, if there is none: `absent`, or that `what` cannot be loaded and why.
    std::optional<std::string> trouble(const std::string& what, const std::string& absent) const;
    /// Throws that as a WorldError.
    void* demand(const std::string& what, const std::string& absent) const;
};
/// Beside the program, or where it is installed.
OpenedModule open_module(const std::string& name);

/// A function that a module exports. Throws WorldError.
template <class Function>
Function find_in(void* module, const std::string& name, const char* function) {
    const auto found = reinterpret_cast<Function>(dlsym(module, function));
    if (!found) throw WorldError(name + " is of another version");
    return found;
}

}  // namespace debubble::exec
