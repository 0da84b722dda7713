#include <fmt/format.h>
#include <gtest/gtest.h>

#include "models/architecture_reader.h"
#include "models/architecture_writer.h"
#include "text/json_document_reader.h"
#include "text/yaml_document_reader.h"

namespace debubble::models {
namespace {

void expect_read_back(const Architecture& written) {
    text::Mistakes mistakes;
    const text::NodePtr map = text::parse_json(architecture_json(written), "model.json");
    EXPECT_EQ(read_own_architecture(map, mistakes), written) << written.name;
    EXPECT_TRUE(mistakes.empty()) << written.name;
}

TEST(ArchitectureWriter, TheWholeZooIsReadBack) {
    for (const std::string& name : zoo()) expect_read_back(read_model(name));
}

Architecture read(const std::string& yaml) {
    text::Mistakes mistakes;
    const Architecture network =
        read_own_architecture(text::parse_yaml(yaml, "model.yaml"), mistakes);
    mistakes.throw_if_any();
    return network;
}

/// What a family has unless its file says otherwise, and the other way round.
TEST(ArchitectureWriter, WhatAFamilyUsuallyHasIsReadBackWhereItIsNotThere) {
    const std::pair<const char*, const char*> cases[] = {
        {"gpt_neox", "parallel_residual: true"},
        {"gpt_neox", "parallel_residual: false"},
        {"gpt_neox", "layer_groups: [{parallel_residual: true}, {parallel_residual: false}]"},
        {"gpt_neox", "tied_embedding: true"},
        {"llama", "parallel_residual: true"},
        {"llama", "parallel_residual: false"},
        {"llama", "linear_bias: true"},
        {"mpt", "norm_bias: true"},
        {"mpt", "norm_bias: false"},
        {"mpt", "linear_bias: true"},
        {"gpt2", "norm_bias: false"},
        {"gpt2", "tied_embedding: false"}};
    for (const auto& [family, key] : cases)
        expect_read_back(
            read(fmt::format("{{name: one, family: {}, layers: 2, hidden: 64, heads: 4, "
                             "vocab: 100, max_positions: 64, {}}}",
                             family, key)));
}

}  // namespace
}  // namespace debubble::models
