#pragma once

namespace debubble::gui {

/// Lets screen readers find the ranks of a timeline as children of it, each with its name and where
/// its step goes, and after them the selection in words. Called once, before a timeline is made.
void make_timelines_accessible();

}  // namespace debubble::gui
