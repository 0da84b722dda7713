#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/diagnostic.h"
#include "exec/io/data/images/image.h"

/// Any bytes are refused in words, or a picture of the size that it says, which fits a model.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace debubble::exec;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    try {
        const Image image = decode_image(bytes, "fuzz.jpg");
        const auto pixels = static_cast<std::size_t>(image.width) * image.height;
        if (image.width < 1 || image.height < 1) std::abort();
        if (image.channels != 1 && image.channels != 3) std::abort();
        if (image.pixels.size() != pixels * image.channels) std::abort();
        for (const int channels : {1, 3})
            for (const float value : fit(image, 8, channels))
                if (!(value >= 0 && value <= 1)) std::abort();
    } catch (const debubble::InputError&) {
    }
    return 0;
}
