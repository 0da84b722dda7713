#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "trace/page/columns.h"
#include "trace/picture/document/document.h"

namespace debubble::page {

/// A document as a page holds it: what there is once as JSON, and what every action has as columns,
/// in the order in which assets/plan.js reads them.
void write_document(const picture::TimelineDocument& document, nlohmann::ordered_json& json,
                    Columns& columns);

}  // namespace debubble::page
