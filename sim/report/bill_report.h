#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sim/explain/bill.h"
#include "sim/report/report_tables.h"

/// The bill of a step as text and as JSON.
namespace debubble::sim {

/// A heading, and a line for each part: its time, its share, a bar that starts where the previous
/// part ends, and the step if the part were free.
std::vector<TableLine> bill_table(const Bill& bill);

nlohmann::ordered_json bill_json(const Bill& bill);

}  // namespace debubble::sim
