#include "exec/cuda/load_module.h"

#include <filesystem>

namespace debubble::exec {

std::optional<std::string> OpenedModule::trouble(const std::string& what,
                                                 const std::string& absent) const {
    if (module != nullptr) return std::nullopt;
    if (!exists) return absent;
    std::string sentence = what + " cannot be loaded: " + why;
    if (why.find("cannot open shared object file") != std::string::npos)
        sentence +=
            "; LD_LIBRARY_PATH can name its folder: lib64 of a CUDA toolkit of that version, or "
            "lib of "
            "PyPI's nvidia packages";
    return sentence;
}

void* OpenedModule::demand(const std::string& what, const std::string& absent) const {
    if (const auto sentence = trouble(what, absent)) throw WorldError(*sentence);
    return module;
}

OpenedModule open_module(const std::string& name) {
    namespace fs = std::filesystem;
    const fs::path programs = fs::read_symlink("/proc/self/exe").parent_path();
    for (const fs::path& path :
         {programs / name, programs.parent_path() / "lib/debubble/modules" / name}) {
        if (!fs::exists(path)) continue;
        void* const module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        return {module, true, module == nullptr ? dlerror() : ""};
    }
    return {};
}

}  // namespace debubble::exec
