#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

/// A module in the place of debubble_cuda.so whose GPUs are a number in FAKE_GPUS. Whoever asks for
/// one of them hears that it is there in name only: tests see who asked, and for which.
namespace debubble::exec {
class Device;
}

extern "C" __attribute__((visibility("default"))) int debubble_cuda_count() {
    const char* const gpus = std::getenv("FAKE_GPUS");
    return gpus != nullptr ? std::atoi(gpus) : 0;
}

extern "C" __attribute__((visibility("default"))) void debubble_cuda_bus_id(int device, char* text,
                                                                            int size) {
    std::snprintf(text, static_cast<std::size_t>(size), "0000:%02X:00.0", device);
}

extern "C" __attribute__((visibility("default"))) debubble::exec::Device* debubble_cuda_device(
    int device, int, int) {
    throw std::runtime_error("GPU " + std::to_string(device) + " is there in name only");
}
