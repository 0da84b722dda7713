#include "tests/support/source_folder.h"

namespace debubble {

std::filesystem::path source_folder() {
    return DEBUBBLE_SOURCE_DIR;
}

}  // namespace debubble
