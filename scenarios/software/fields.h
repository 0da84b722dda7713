#pragma once

#include <string_view>

#include "scenarios/software/framework.h"
#include "text/fields.h"
#include "text/mapping_reader.h"

/// The parts of a framework's file. Private to the folder: users see reader.h.
namespace debubble::scenarios {

text::Fields<Framework> kernel_fields();
text::Fields<Framework> communication_fields();
text::Fields<Framework> host_fields();
text::Fields<Framework> stage3_fields();  ///< DeepSpeed's limits of ZeRO-3

/// A number of bytes in `place` that `read` reads and checks.
text::Reading<Framework> checked_bytes(void (*read)(text::MappingReader&, std::string_view,
                                                    Framework&),
                                       Bytes Framework::*place);

}  // namespace debubble::scenarios
