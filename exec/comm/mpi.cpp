#include "exec/comm/transports.h"

#include <dlfcn.h>

#include <filesystem>
#include <string>

namespace debubble::exec {

namespace {

constexpr const char* kModule = "debubble_mpi.so";

std::string module_path() {
    const auto programs = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    const auto module = programs / kModule;
    const auto installed = programs.parent_path() / "lib/debubble/modules" / kModule;
    return std::filesystem::exists(module)      ? module.string()
           : std::filesystem::exists(installed) ? installed.string()
                                                : kModule;
}

}  // namespace

std::unique_ptr<Communicator> connect_mpi(std::chrono::nanoseconds patience) {
    // Plug-ins of MPI look for its symbols, so the module is loaded globally. It is never closed,
    // since MPI's threads live on.
    void* module = dlopen(module_path().c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!module) {
        throw WorldError(std::string("the MPI communicator cannot be loaded: ") + dlerror());
    }
    using Connect = Communicator* (*)(std::chrono::nanoseconds);
    const auto connect = reinterpret_cast<Connect>(dlsym(module, "debubble_mpi_join"));
    if (!connect)
        throw WorldError(std::string(kModule) + " belongs to another version of debubble");
    return std::unique_ptr<Communicator>(connect(patience));
}

}  // namespace debubble::exec
