#include "base/diagnostic.h"
#include "exec/io/data/images/image.h"

namespace debubble::exec {

Image decode_png(std::string_view, const std::filesystem::path& file) {
    throw WorldError(file.string() + ": debubble was built without libpng (Debian: libpng-dev)");
}

}  // namespace debubble::exec
