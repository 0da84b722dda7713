#pragma once

#include <string>

#include "models/network/architecture.h"

/// Properties of a network that writers of jobs need. Private to the folder.
namespace debubble::jobs {

/// Why a network is not one of equal layers of plain attention and a dense MLP, as most frameworks
/// build by sizes alone; empty if it is one. `experts`: layers of experts count as such too.
std::string why_not_plain(const models::Architecture& model, bool experts);

/// The name that a network of the zoo has in Hugging Face's hub, in small letters and without its
/// folder; empty if none is known.
std::string hub_name_of(const models::Architecture& model);

}  // namespace debubble::jobs
