#pragma once

#include <dlfcn.h>
#include <memory>
#include <optional>
#include <string>

#include "base/diagnostic.h"
#include "exec/core/device.h"

/// Parts of the program that are loaded on demand, since not every machine has what they need.
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

/// The CUDA back end, in a module next to the program that is loaded on demand: so the same program
/// starts where there is no CUDA.
class CudaModule {
public:
    /// Loads the module. `beside_nccl`: NCCL will run in this process. Throws WorldError with one
    /// sentence that gives the reason where there is no GPU to use.
    static CudaModule load(bool beside_nccl = false);

    int gpus() const { return gpus_; }
    /// The device of a rank that is a thread, which calls this itself: ranks are assigned to GPUs
    /// round-robin.
    std::unique_ptr<Device> device_of(int rank_on_host, int ranks_on_host) const;
    /// The device of a rank that is a process, called on the thread that will use it. Processes
    /// time-share a GPU, so that none has multiprocessors of its own.
    std::unique_ptr<Device> device(int gpu, int ranks_on_it) const;
    /// An identity of the GPU that is the same for every process that sees it, by whatever number.
    std::string bus_id(int gpu) const;

private:
    Device* (*open_)(int device, int part, int ranks_on_it) = nullptr;
    void (*bus_id_)(int device, char* text, int size) = nullptr;
    int gpus_ = 0;
};

}  // namespace debubble::exec
