#pragma once

#include <string>
#include <string_view>

#include "trace/profile/rank_profile.h"

namespace debubble::profile {

/// Reads a file of torch.profiler (libkineto/src/output_json.cpp), plain or gzip. The text is read
/// once, event by event, and only its kernels, launches and marked ranges are kept, or its
/// operators if it has no kernels: some 50 bytes each. Instants are nanoseconds since 1970:
/// baseTimeNanoseconds + 1000 ts, with all written decimals. A text that ends between two events is
/// read up to there. Throws InputError with the byte of every other mistake.
RankProfile read_kineto(const std::string& file);
/// The same for a text in memory; `name` is for diagnostics.
RankProfile read_kineto_text(std::string_view text, const std::string& name);

}  // namespace debubble::profile
