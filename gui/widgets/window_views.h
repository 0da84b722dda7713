#pragma once

#include <memory>

#include "gui/widgets/window_view.h"

/// The factories of the views. run_page() is the page of the whole training, in whole_run_page.cpp
/// (run_page.h is its widget), run_dock() the dock of a run on this machine.
namespace debubble::gui {

std::unique_ptr<WindowView> timeline_page(ViewHost& host);
std::unique_ptr<WindowView> sweep_page(ViewHost& host);
std::unique_ptr<WindowView> bill_page(ViewHost& host);
std::unique_ptr<WindowView> schedules_page(ViewHost& host);
std::unique_ptr<WindowView> ranks_page(ViewHost& host);
std::unique_ptr<WindowView> run_page(ViewHost& host);
std::unique_ptr<WindowView> what_if_dock(ViewHost& host);
std::unique_ptr<WindowView> summary_dock(ViewHost& host);
std::unique_ptr<WindowView> details_dock(ViewHost& host);
std::unique_ptr<WindowView> text_dock(ViewHost& host);
std::unique_ptr<WindowView> run_dock(ViewHost& host);
std::unique_ptr<WindowView> compare_dock(ViewHost& host);
std::unique_ptr<WindowView> tensors_dock(ViewHost& host);

}  // namespace debubble::gui
