#include <cstdlib>
#include <stdexcept>

/// A module in the place of debubble_nccl.so, of the version in FAKE_NCCL (22809 is 2.28.9) and
/// under a driver for the CUDA of FAKE_DRIVER. It moves nothing.
namespace debubble::exec {
class Communicator;
namespace nccl {
struct Setup;
struct Versions {
    int library;
    int driver;
};
}  // namespace nccl
}  // namespace debubble::exec

extern "C" __attribute__((visibility("default"))) void debubble_nccl_versions(
    debubble::exec::nccl::Versions& found) {
    const auto number = [](const char* name, int usual) {
        const char* const text = std::getenv(name);
        return text != nullptr ? std::atoi(text) : usual;
    };
    found = {number("FAKE_NCCL", 22809), number("FAKE_DRIVER", 13000)};
}

extern "C" __attribute__((visibility("default"))) debubble::exec::Communicator*
debubble_nccl_connect(const debubble::exec::nccl::Setup&) {
    throw std::runtime_error("NCCL is there in name only");
}
