#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "exec/core/stage/operators/run_operator.h"
#include "exec/cpu/cpu_kernels.h"
#include "exec/program/sample/language_model.h"
#include "models/architecture_reader.h"

/// Networks that are planned only are refused in a sentence before anything runs.
namespace debubble::exec {
namespace {

struct Refused {
    const char* name;
    const char* part;
};

const Refused kRefused[] = {{"qwen3-next-80b-a3b", "gated delta nets"},
                            {"nemotron-h-8b", "state-space layers"}};

TEST(ExecutedNetworks, AreThoseWhosePartsAllRun) {
    for (const char* name :
         {"gpt2", "llama3-8b", "llama3.1-8b", "mistral-7b", "qwen2.5-7b", "qwen3-8b",
          "nemotron4-15b", "mixtral-8x7b", "deepseek-v3", "glm-4.5-air", "gemma-2-9b",
          "gemma-3-27b", "llama4-scout", "mpt-7b", "vit-base"})
        EXPECT_NO_THROW(check_supported(models::read_model(name))) << name;
    for (const Refused& network : kRefused) {
        try {
            check_supported(models::read_model(network.name));
            ADD_FAILURE() << network.name << " was accepted";
        } catch (const InputError& error) {
            EXPECT_THAT(error.what(), testing::HasSubstr(network.part)) << network.name;
            EXPECT_THAT(error.what(), testing::HasSubstr("cannot be executed yet"));
        }
    }
}

TEST(ExecutedNetworks, AreThoseThatContinueATextToo) {
    const std::unique_ptr<Kernels> kernels = make_fixed_order_kernels();
    for (const Refused& refused : kRefused) {
        SavedNetwork network;
        network.architecture = models::read_model(refused.name);
        network.folder = "weights";
        try {
            const LanguageModel model(network, *kernels, nullptr);
            ADD_FAILURE() << refused.name << " was accepted";
        } catch (const InputError& error) {
            EXPECT_THAT(error.what(), testing::StartsWith("weights: error: "));
            EXPECT_THAT(error.what(), testing::HasSubstr(refused.part));
        }
    }
}

}  // namespace
}  // namespace debubble::exec
