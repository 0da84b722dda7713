#include "gui/widgets/window_views.h"

namespace debubble::gui {

std::vector<std::unique_ptr<WindowView>> make_views(ViewHost& host) {
    std::vector<std::unique_ptr<WindowView>> views;
    for (const auto make :
         {timeline_page, sweep_page, bill_page, schedules_page, ranks_page, run_page,  //
          what_if_dock, summary_dock, details_dock,                                    //
          text_dock, run_dock, compare_dock, tensors_dock})
        views.push_back(make(host));
    return views;
}

}  // namespace debubble::gui
