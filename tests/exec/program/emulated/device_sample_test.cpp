#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exec/program/sample/continue_text.h"
#include "tests/exec/support/goldens.h"
#include "tests/exec/support/tested_device.h"
#include "tests/support/source_folder.h"

/// Texts that networks go on with on a device, against transformers.
namespace debubble::exec {
namespace {

namespace fs = std::filesystem;
using Tokens = std::vector<std::int32_t>;

class DeviceSample : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        if (const std::string reason = why_no_device(); !reason.empty()) GTEST_SKIP() << reason;
    }
};

TEST_P(DeviceSample, GreedilyItGoesOnAsTransformersDoes) {
    const std::string name = std::string("hugging_face/") + GetParam();
    const auto device = tested_device(0, 1);
    const auto kernels = device->make_kernels();
    LanguageModel model(open_saved_network(source_folder() / "tests/exec/goldens" / name), *kernels,
                        device.get());
    const Goldens golden(name + "/generated");
    const View<std::int32_t> texts = golden["texts"].as<std::int32_t>();
    constexpr std::int64_t kPrompt = 3;  // as in make_generated.py
    ASSERT_GT(texts.rows(), 0);
    const Tokens text(texts.row(0), texts.row(0) + texts.columns());
    Continuation how;
    how.tokens = texts.columns() - kPrompt;
    how.sampling.temperature = 0;
    Tokens told(text.begin(), text.begin() + kPrompt);
    continue_text(model, told, how, [&](std::int32_t token) { told.push_back(token); });
    EXPECT_EQ(told, text);
}

INSTANTIATE_TEST_SUITE_P(Networks, DeviceSample, testing::Values("gpt2", "llama"));

}  // namespace
}  // namespace debubble::exec
