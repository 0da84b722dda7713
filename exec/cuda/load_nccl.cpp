#include "exec/cuda/load_nccl.h"

#include <dlfcn.h>

#include <filesystem>

#include "base/diagnostic.h"

namespace debubble::exec {

namespace {

namespace fs = std::filesystem;

/// Beside the program, or where it is installed; empty: nowhere.
fs::path module_path(const char* name) {
    const fs::path programs = fs::read_symlink("/proc/self/exe").parent_path();
    for (const fs::path& path : {programs / name, programs.parent_path() / "lib/debubble" / name})
        if (fs::exists(path)) return path;
    return {};
}

/// Never closed, as all modules. Null with a reason if it cannot be opened.
void* open(const char* name, std::string& why) {
    const fs::path path = module_path(name);
    if (path.empty()) {
        why = "this build has no NCCL: CMake found no nccl.h and libnccl, or no CUDA toolkit";
        return nullptr;
    }
    void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!module) why = std::string("NCCL cannot be loaded: ") + dlerror();
    return module;
}

template <class Function>
Function find(const char* module, const char* name) {
    std::string why;
    void* const opened = open(module, why);
    if (!opened) throw WorldError(why);
    const auto found = reinterpret_cast<Function>(dlsym(opened, name));
    if (!found) throw WorldError(std::string(module) + " is of another version");
    return found;
}

}  // namespace

std::optional<std::string> why_no_nccl() {
    std::string why;
    if (open("debubble_nccl.so", why)) return std::nullopt;
    return why;
}

std::unique_ptr<Communicator> connect_nccl(nccl::Setup setup) {
    setup.stream_of =
        find<void* (*)(DeviceLanes&, DeviceLane)>("debubble_cuda.so", "debubble_cuda_stream");
    const auto connect =
        find<Communicator* (*)(const nccl::Setup&)>("debubble_nccl.so", "debubble_nccl_connect");
    return std::unique_ptr<Communicator>(connect(setup));
}

}  // namespace debubble::exec
