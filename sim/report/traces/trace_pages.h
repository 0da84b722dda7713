#pragma once

#include "sim/report/traces/compare_report.h"
#include "sim/report/traces/profile_report.h"
#include "trace/page/page.h"

/// Traces as a self-contained page (trace/page).
namespace debubble::sim {

/// Two traces, one above the other: the median step of each, and the comparison in figures.
page::Page page_of(const Trace& first, const Trace& second, const CompareReport& report);

/// The median step of a profiled run, and its figures.
page::Page page_of(const ProfileReport& report);

}  // namespace debubble::sim
