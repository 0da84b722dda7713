#include "gui/viewmodel/remembered_view.h"

#include <gmock/gmock.h>

namespace debubble::gui {
namespace {

ViewState looked_at() {
    ViewState state;
    state.axis = TimeAxis({Instant{Duration{1000}}, Instant{Duration{9000}}}, 800);
    state.axis.show({Instant{Duration{3000}}, Instant{Duration{5000}}});
    state.rows = {{1}, {2}, {3, 5}, {4}, {6}, true, {7}, false, std::pair(2, 9)};
    state.scroll = 70;
    state.colour_by = ColourBy::Stage;
    state.critical_path = true;
    state.marks = {Instant{Duration{2000}}, Instant{Duration{5000}}};
    return state;
}

ViewState fresh() {
    ViewState state;
    state.axis = TimeAxis(looked_at().axis.whole(), 800);
    return state;
}

TEST(RememberedView, is_the_same_view_when_it_is_recalled) {
    EXPECT_EQ(recalled(remembered(looked_at()), fresh()), looked_at());
}

TEST(RememberedView, shows_the_same_share_of_a_plan_that_became_longer) {
    ViewState longer;
    longer.axis = TimeAxis({Instant{}, Instant{Duration{80'000}}}, 800);
    const TimeRange shown = recalled(remembered(looked_at()), longer).axis.shown();
    EXPECT_EQ(shown.begin, Instant{Duration{20'000}});
    EXPECT_EQ(shown.end, Instant{Duration{40'000}});
}

TEST(RememberedView, leaves_the_view_alone_if_it_is_damaged) {
    const std::string whole = remembered(looked_at());
    for (const std::string& damaged :
         {std::string(), std::string("{"), std::string("[1, 2]"), std::string("{\"shown\": 3}"),
          std::string("\xff\xfe"), whole.substr(0, whole.size() / 2),
          std::string(R"({"shown": ["a", null], "streams": {}, "scroll": "x"})")})
        EXPECT_EQ(recalled(damaged, fresh()), fresh()) << damaged;
    // A truncated text gives the whole view or nothing of it.
    for (std::size_t i = 0; i < whole.size(); ++i)
        EXPECT_EQ(recalled(whole.substr(0, i), fresh()), fresh()) << i;
}

}  // namespace
}  // namespace debubble::gui
