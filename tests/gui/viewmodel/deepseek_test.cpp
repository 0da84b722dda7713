#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include <stdlib.h>

#include <gmock/gmock.h>

#include "gui/viewmodel/export.h"
#include "gui/viewmodel/screen.h"
#include "gui/viewmodel/sweep/sweep_run.h"
#include "gui/viewmodel/sweep/sweep_table.h"
#include "tests/gui/viewmodel/shipped.h"

/// The window with a network of different layers: DeepSeek-V3 on 2,048 GPUs.
namespace debubble::gui {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using State = SweepRun::State;

/// DeepSeek-V3's plan with fewer microbatches, which every test uses.
ScenarioText plan_text() {
    return with_change(shipped("deepseek-v3-bf16"), "training.global_batch", "2048");
}

std::string value_of(const std::vector<SummaryRow>& rows, const std::string& name) {
    const auto found = std::ranges::find(rows, name, &SummaryRow::name);
    return found == rows.end() ? "no row " + name : found->value;
}

TEST(DeepseekV3, opens_and_shows_its_kinds_of_layers) {
    const Answer answer = gui::answer(plan_text());
    ASSERT_TRUE(answer.plan) << answer.mistakes.front().message;
    const std::vector<SummaryRow> rows =
        figures_of({answer.plan->document, "deepseek-v3", answer.plan});
    EXPECT_EQ(value_of(rows, "layers 0 to 2"),
              "128 heads of 192 from a latent value of 512, values of 128, ffn 18432");
    EXPECT_THAT(value_of(rows, "layers 3 to 60"),
                HasSubstr("256 experts of 2048, 8 for each token and a shared one of 2048"));
    EXPECT_THAT(value_of(rows, "for one token"), StartsWith("37.55 B"));
    EXPECT_TRUE(answer.plan->prediction.fits);
    EXPECT_LT(*answer.plan->prediction.mfu_causal, *answer.plan->prediction.mfu);
    for (const char* key : {"parallel.expert", "parallel.expert_tensor", "training.expert_load",
                            "training.moe_aux_loss_coeff", "training.moe_z_loss_coeff",
                            "training.moe_router_load_balancing_type", "framework.dispatcher"}) {
        const auto field = std::ranges::find(answer.fields, key, &Field::key);
        ASSERT_NE(field, answer.fields.end()) << key;
        EXPECT_FALSE(field->why_not) << key;
    }
}

/// A model with this one as its base has a field for the number of its layers.
TEST(DeepseekV3, is_cut_short_by_a_field) {
    ScenarioText source = plan_text();
    const std::string model = "\nmodel: deepseek-v3";
    source.text.replace(source.text.find(model), model.size(),
                        "\nmodel: {base: deepseek-v3, layers: 32}");
    const Answer answer = gui::answer(source);
    ASSERT_TRUE(answer.plan) << answer.mistakes.front().message;
    const auto layers = std::ranges::find(answer.fields, "model.layers", &Field::key);
    ASSERT_NE(layers, answer.fields.end());
    EXPECT_EQ(layers->value, "32");
    const Answer cut = gui::answer(with_change(source, "model.layers", "16"));
    ASSERT_TRUE(cut.plan) << cut.mistakes.front().message;
    EXPECT_EQ(cut.plan->scenario.model.layers.count(), 16);
    const Answer whole = gui::answer(plan_text());
    EXPECT_EQ(std::ranges::find(whole.fields, "model.layers", &Field::key), whole.fields.end());
}

TEST(DeepseekV3, is_exported) {
    const Answer answer = gui::answer(plan_text());
    ASSERT_TRUE(answer.plan);
    const Screen screen = on_screen::Plan{"deepseek-v3", answer.plan, nullptr};
    const std::string csv = exported(screen, ExportFormat::Csv);
    EXPECT_EQ(std::ranges::count(csv, '\n'), answer.plan->document->trace.spans.size() + 1);
    EXPECT_THAT(exported(screen, ExportFormat::Svg), HasSubstr("deepseek-v3"));
}

TEST(DeepseekV3, is_swept) {
    std::string name = (std::filesystem::temp_directory_path() / "debubble-v3-XXXXXX").string();
    const std::filesystem::path folder = ::mkdtemp(name.data());
    SweepRun run(with_grid(plan_text(), "parallel.expert: [32, 64]\n"), folder / "results.csv");
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    State state = State::Reading;
    while (std::chrono::steady_clock::now() < deadline &&
           (state == State::Reading || state == State::Running)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        state = run.progress().state;
    }
    ASSERT_EQ(state, State::Finished);
    SweepTable table(run.grid());
    table.add(run.take_rows());
    const std::string csv = table.csv(table.order(table.columns().size(), false, ""));
    EXPECT_EQ(std::ranges::count(csv, '\n'), 3);
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace debubble::gui
