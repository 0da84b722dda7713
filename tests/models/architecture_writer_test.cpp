#include <gtest/gtest.h>

#include "models/architecture_reader.h"
#include "models/architecture_writer.h"
#include "text/json_document_reader.h"

namespace debubble::models {
namespace {

TEST(ArchitectureWriter, TheWholeZooIsReadBack) {
    for (const std::string& name : zoo()) {
        const Architecture written = read_model(name);
        text::Mistakes mistakes;
        const text::NodePtr map = text::parse_json(architecture_json(written), "model.json");
        EXPECT_EQ(read_own_architecture(map, mistakes), written) << name;
        EXPECT_TRUE(mistakes.empty()) << name;
    }
}

}  // namespace
}  // namespace debubble::models
