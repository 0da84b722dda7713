#include "trace/profile/formats/snapshot_peaks.h"

#include <fstream>

#include <gmock/gmock.h>

#include "base/diagnostic.h"

/// Pickles as Python writes them, and the peaks in a memory snapshot of PyTorch.
namespace debubble::profile {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;

std::string refusal(const std::string& bytes) {
    try {
        const Pickle pickle(bytes, "x.pickle");
    } catch (const InputError& error) {
        return error.diagnostics().front().message;
    }
    return "";
}

/// pickle.dumps({"a": [1, -2, 70000, 2**40, 0.5, None, True], "b": ("x", {}), "a2": "a"}, 4)
TEST(Pickle, ReadsPythonsValues) {
    const Pickle pickle(
        "\x80\x04\x95\x3f\0\0\0\0\0\0\0}\x94(\x8c\x01"
        "a\x94]\x94(K\x01J\xfe\xff\xff\xffJp\x11\x01\0"
        "\x8a\x06\0\0\0\0\0\x01G?\xe0\0\0\0\0\0\0N\x88"
        "e\x8c\x01"
        "b\x94\x8c\x01x\x94}\x94\x86\x94"
        "\x8c\x02"
        "a2\x94h\x01u."s,
        "x.pickle");
    const Pickle::Value& root = pickle.root();
    ASSERT_EQ(root.kind, Pickle::Kind::Map);
    const Pickle::Value& list = *pickle.find(root, "a");
    ASSERT_EQ(list.items.size(), 7U);
    EXPECT_EQ(pickle.at(list.items[0]).whole, 1);
    EXPECT_EQ(pickle.at(list.items[1]).whole, -2);
    EXPECT_EQ(pickle.at(list.items[2]).whole, 70'000);
    EXPECT_EQ(pickle.at(list.items[3]).whole, std::int64_t{1} << 40U);
    EXPECT_DOUBLE_EQ(pickle.at(list.items[4]).real, 0.5);
    EXPECT_EQ(pickle.at(list.items[5]).kind, Pickle::Kind::None);
    EXPECT_EQ(pickle.at(list.items[6]).whole, 1);
    const Pickle::Value& pair = *pickle.find(root, "b");
    ASSERT_EQ(pair.items.size(), 2U);
    EXPECT_EQ(pickle.at(pair.items[0]).text, "x");
    EXPECT_EQ(pickle.text(root, "a2"), "a");
    EXPECT_EQ(pickle.find(root, "c"), nullptr);
    EXPECT_EQ(pickle.number(root, "c", 7), 7);
}

TEST(Pickle, ExecutesNothingAndSaysWhereItIsDamaged) {
    EXPECT_THAT(refusal("cos\nsystem\n(S'true'\ntR."),
                HasSubstr("nothing that it names is executed"));
    EXPECT_THAT(refusal("\x80\x04\x8c\x02os\x8c\x06system\x93."s), HasSubstr("byte 14"));
    EXPECT_THAT(refusal("\x80\x04]"s), HasSubstr("ends inside"));
    EXPECT_THAT(refusal("\x80\x04X\xff\xff\xff\x7f."s), HasSubstr("ends inside"));
    EXPECT_THAT(refusal("a."), HasSubstr("stack is empty"));
    EXPECT_THAT(refusal("(e."), HasSubstr("stack is empty"));
    EXPECT_THAT(refusal("e."), HasSubstr("no mark"));
    EXPECT_THAT(refusal("K\x01K\x02"
                        "a."),
                HasSubstr("neither a list nor a map"));
    EXPECT_THAT(refusal("}(K\x01u."), HasSubstr("neither a list nor a map"));
    EXPECT_THAT(refusal("h\x05."), HasSubstr("never stored"));
    EXPECT_THAT(refusal("."), HasSubstr("stack is empty"));
    EXPECT_EQ(refusal("]\x94h\0a."s), "") << "a list that holds itself";
}

/// The events of a device; each is {"action": ..., "size": ...}.
std::string snapshot(const std::vector<std::pair<std::string, int>>& events, int allocated,
                     int reserved) {
    const auto text = [](const std::string& word) {
        return "X"s + static_cast<char>(word.size()) + "\0\0\0"s + word;
    };
    const auto number = [](int value) {
        std::string out = "J";
        for (int i = 0; i < 4; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
        return out;
    };
    std::string out = "\x80\x02}(" + text("segments") + "](}(" + text("device") + number(0) +
                      text("allocated_size") + number(allocated) + text("total_size") +
                      number(reserved) + "ue" + text("device_traces") + "](](";
    for (const auto& [action, size] : events)
        out += "}(" + text("action") + text(action) + text("size") + number(size) + "u";
    return out + "eeu.";
}

SnapshotPeaks peaks(const std::string& bytes) {
    const std::string file = testing::TempDir() + "snapshot.pickle";
    std::ofstream(file, std::ios::binary) << bytes;
    EXPECT_TRUE(is_pickle(file));
    return snapshot_peaks(file);
}

TEST(SnapshotPeaks, AreWalkedBackFromWhatIsHeldAtTheEnd) {
    const SnapshotPeaks most = peaks(snapshot({{"segment_alloc", 2000},
                                               {"alloc", 700},
                                               {"alloc", 900},
                                               {"free_requested", 900},
                                               {"free_completed", 900},
                                               {"segment_free", 500},
                                               {"alloc", 100}},
                                              1300, 4000));
    // At the end 1,300 of 4,000; before the last 1,200, and 2,100 of 4,500 at the most.
    EXPECT_EQ(most.allocated, Bytes{2100});
    EXPECT_EQ(most.reserved, Bytes{4500});
    EXPECT_EQ(peaks(snapshot({}, 5, 9)).allocated, Bytes{5});
}

TEST(SnapshotPeaks, OfAnotherPickleAreRefused) {
    const std::string file = testing::TempDir() + "other.pickle";
    std::ofstream(file, std::ios::binary) << "\x80\x04}."s;
    EXPECT_THROW(snapshot_peaks(file), InputError);
    std::ofstream(file, std::ios::binary) << snapshot({}, 0, 0);
    EXPECT_THROW(snapshot_peaks(file), InputError);
}

}  // namespace
}  // namespace debubble::profile
