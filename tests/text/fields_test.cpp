#include "text/fields.h"

#include <optional>

#include <gtest/gtest.h>

#include "text/document_readers.h"

namespace debubble::text {
namespace {

struct Machine {
    std::optional<double> watts;
    std::optional<int> leaves;
    int nodes = 1;
};

const Fields<Machine>& machine_fields() {
    static const Fields<Machine> kFields{
        {"watts", zero_unsets(power(&Machine::watts)), "The power.", "700 W"},
        {"leaves", whole(&Machine::leaves, 0, 9), "The leaves.", "2"},
        {"nodes", whole(&Machine::nodes, 0, 9), "The nodes.", "2"}};
    return kFields;
}

void read(Machine& machine, const std::string& yaml) {
    Mistakes mistakes;
    MappingReader in(parse_yaml(yaml, "machine.yaml"), "machine", mistakes);
    read_fields(in, machine_fields(), machine);
    in.finish();
    mistakes.throw_if_any();
}

TEST(Fields, ZeroUnsetsOnlyWhereARowSaysSo) {
    Machine machine;
    read(machine, "{watts: 700 W, leaves: 2, nodes: 3}");
    EXPECT_EQ(machine.watts, 700);
    EXPECT_EQ(machine.leaves, 2);
    read(machine, "{nodes: 0}");
    EXPECT_EQ(machine.watts, 700) << "a key that is not given leaves its field";
    EXPECT_EQ(machine.nodes, 0);
    read(machine, "{watts: 0 W, leaves: 0}");
    EXPECT_EQ(machine.watts, std::nullopt) << "as a file unsets the value of its base";
    EXPECT_EQ(machine.leaves, 0) << "a number like any other";
}

TEST(Fields, ZeroIsTheDescribedDefaultOfAFieldThatItUnsets) {
    const std::vector<Key> keys = described(machine_fields());
    ASSERT_EQ(keys.size(), 3U);
    EXPECT_EQ(keys[0].otherwise, "0 W");
    EXPECT_EQ(keys[1].otherwise, "");
    EXPECT_EQ(keys[2].otherwise, "1");
}

}  // namespace
}  // namespace debubble::text
