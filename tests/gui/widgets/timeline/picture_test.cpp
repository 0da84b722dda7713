#include <cstdlib>

#include <gmock/gmock.h>

#include "tests/gui/widgets/timeline/views.h"

/// Frames as a person sees them. With DEBUBBLE_PICTURES=FOLDER they are kept there to be looked at.
namespace debubble::gui {
namespace {

struct Case {
    const char* name;
    const char* scenario;
    std::vector<scenarios::Override> set;
};

void keep(const QImage& image, const std::string& name) {
    const char* folder = std::getenv("DEBUBBLE_PICTURES");
    if (folder == nullptr) return;
    EXPECT_TRUE(image.save(QString::fromStdString(std::string(folder) + "/" + name + ".png")));
}

class Picture : public testing::TestWithParam<Case> {};

TEST_P(Picture, HasBarsAndTextInBothThemesAndSizes) {
    const Document document = predicted(GetParam().scenario, GetParam().set);
    for (const Theme theme : {Theme::Light, Theme::Dark})
        for (const double ratio : {1.0, 2.0}) {
            TimelineView view;
            if (theme == Theme::Dark) view.setPalette(dark_palette());
            view.resize(1280, 640);
            view.set_document(document);
            const QImage image = view.picture({1280, 640}, ratio);
            EXPECT_EQ(image.size(), QSize(1280, 640) * ratio);
            const Palette& palette = palette_of(theme);
            for (const Paint paint : {Paint::Forward, Paint::Backward, Paint::Bubble})
                EXPECT_GT(count(image, palette[static_cast<std::size_t>(paint)]), 200U)
                    << name_of(paint);
            EXPECT_GT(count(image, ground_of(theme).text), 20U);
            keep(image, std::string(GetParam().name) + (theme == Theme::Dark ? "-dark" : "-light") +
                            (ratio == 2 ? "-200" : "-100"));
        }
}

INSTANTIATE_TEST_SUITE_P(Plans, Picture,
                         testing::Values(Case{"gpt3-1f1b", "gpt3-175b", {{"schedule", "1f1b"}}},
                                         Case{"gpt2-xl-zb-h1", "gpt2-xl-zb-h1", {}},
                                         Case{"gpt2-xl", "gpt2-xl", {}}),
                         [](const auto& plan) {
                             std::string name = plan.param.name;
                             std::erase(name, '-');
                             return name;
                         });

}  // namespace
}  // namespace debubble::gui
