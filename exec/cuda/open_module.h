#pragma once

#include <dlfcn.h>

#include <optional>
#include <string>

#include "base/diagnostic.h"

namespace debubble::exec {

/// A part of the program that is loaded on demand, since not every machine has what it needs.
struct OpenedModule {
    void* module = nullptr;  ///< never closed: exceptions and objects of it may outlive the caller
    bool exists = false;
    std::string why;  ///< the reason why it could not be opened though it exists

    /// A sentence, if the module is not open: `absent`, or that `what` cannot be loaded, and why.
    std::optional<std::string> trouble(const std::string& what, const std::string& absent) const;
    /// Returns the module, or throws that sentence as a WorldError.
    void* demand(const std::string& what, const std::string& absent) const;
};
/// Opens a module next to the program, or where it is installed.
OpenedModule open_module(const std::string& name);

/// A function that a module exports. Throws WorldError.
template <class Function>
Function find_in(void* module, const std::string& name, const char* function) {
    const auto found = reinterpret_cast<Function>(dlsym(module, function));
    if (!found) throw WorldError(name + " belongs to another version of debubble");
    return found;
}

}  // namespace debubble::exec
