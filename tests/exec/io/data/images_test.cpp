#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "exec/io/data/data_set.h"
#include "exec/io/data/images/image.h"
#include "tests/exec/support/data_files.h"
#include "tests/support/source_folder.h"

namespace debubble::exec {
namespace {

namespace fs = std::filesystem;
using testing::Each;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using Json = nlohmann::json;

const fs::path kImages = source_folder() / "tests/exec/goldens/images";
const fs::path kShapes = source_folder() / "scenarios/data/shapes";

Image decoded(const fs::path& file) {
    return decode_image(read_file(file), file);
}

/// Pillow rounds to bytes between its two passes, hence the tolerance of a byte and a half.
TEST(Image, IsFittedAsPillowDoes) {
    const Json expected = Json::parse(read_file(kImages / "expected.json"));
    EXPECT_EQ(expected.size(), 9u);
    for (const auto& [file, by_channels] : expected.items()) {
        for (const auto& [channels, bytes] : by_channels.items()) {
            const std::vector<float> values = fit(decoded(kImages / file), 16, std::stoi(channels));
            ASSERT_EQ(values.size(), bytes.size());
            for (std::size_t i = 0; i < values.size(); ++i)
                ASSERT_NEAR(values[i] * 255, bytes[i].get<float>(), 1.5)
                    << file << ", " << channels << " channels, value " << i;
        }
    }
}

TEST(Image, OfTheModelsSizeStaysAsItIs) {
    const Image image = decoded(kImages / "exact.png");
    const std::vector<float> values = fit(image, 16, 3);
    for (std::size_t i = 0; i < 256; ++i)
        for (std::size_t c = 0; c < 3; ++c)
            EXPECT_FLOAT_EQ(values[256 * c + i] * 255, image.pixels[3 * i + c]);
}

TEST(Image, ThatIsExtremelyLongIsCutToItsMiddle) {
    Image line{100'000, 1, 1};
    line.pixels.assign(100'000, 51);
    EXPECT_THAT(fit(line, 4, 1), Each(testing::FloatEq(0.2f)));
}

std::string refusal(const std::string& bytes) {
    return sentence_of<InputError>([&] { decode_image(bytes, "a.img"); });
}

TEST(Image, ThatIsDamagedIsRefusedByName) {
    for (const char* name : {"colour.jpg", "progressive.jpg", "ink.jpg", "palette.png"}) {
        const std::string good = read_file(kImages / name);
        EXPECT_EQ(refusal(good), "");
        for (const double part : {0.1, 0.5, 0.9})
            EXPECT_THAT(refusal(good.substr(
                            0, static_cast<std::size_t>(part * static_cast<double>(good.size())))),
                        HasSubstr("a.img: error: damaged "))
                << name << " cut at " << part;
    }
    std::string flipped = read_file(kImages / "exact.png");
    flipped[flipped.size() / 2] ^= 1;
    EXPECT_THAT(refusal(flipped), HasSubstr("a.img: error: damaged PNG: "));
    EXPECT_THAT(refusal(""), EndsWith("a.img: error: neither a JPEG nor a PNG\n"));
    EXPECT_THAT(refusal("GIF89a"), EndsWith("neither a JPEG nor a PNG\n"));
}

/// No flipped byte may do more than change pixels or be refused.
TEST(Image, SurvivesEveryFlippedByte) {
    for (const char* name : {"grey.jpg", "progressive.jpg", "palette.png"}) {
        const std::string good = read_file(kImages / name);
        for (std::size_t i = 0; i < good.size(); i += 3) {
            std::string bad = good;
            bad[i] = static_cast<char>(bad[i] ^ (1 << i % 8));
            try {
                const Image image = decode_image(bad, "a.img");
                EXPECT_EQ(image.pixels.size(),
                          static_cast<std::size_t>(image.width) * image.height * image.channels);
            } catch (const InputError&) {
            }
        }
    }
}

TEST(Image, ThatPromisesTooManyPixelsIsRefusedBeforeTheyAreAllocated) {
    std::string huge = read_file(kImages / "colour.jpg");
    const std::size_t frame = huge.find("\xff\xc0");
    huge.replace(frame + 5, 4, "\xff\xff\xff\xff");
    EXPECT_THAT(refusal(huge), HasSubstr("a.img: error: damaged JPEG: "));
}

TEST(ImageFolder, ShowsItsClassesInOrder) {
    const auto classes = image_classes(kShapes / "train");
    EXPECT_THAT(classes, ElementsAre("cross", "disc", "square", "triangle"));
    const auto data = open_images(kShapes / "train", classes, {.side = 8});
    ASSERT_EQ(data->samples(), 96);
    Batch batch = data->batch_of(2);
    EXPECT_EQ(batch.inputs.shape(), (Shape{2, 3, 8, 8}));
    EXPECT_EQ(data->read(24, 1, batch), 1);
    EXPECT_EQ(batch.targets.as<std::int32_t>()[1], 1);
    const std::vector<float> values = fit(decoded(kShapes / "train/disc/00.png"), 8, 3);
    for (std::size_t i = 0; i < values.size(); ++i)
        EXPECT_FLOAT_EQ(batch.inputs.as<float>()[192 + i], (values[i] - 0.5f) / 0.5f);
    data->read_nothing(1, batch);
    EXPECT_EQ(batch.targets.as<std::int32_t>()[1], -100);
    EXPECT_EQ(batch.inputs.as<float>()[192], 0);
}

TEST(ImageFolder, NormalisesEachChannelByItsOwn) {
    const auto classes = image_classes(kShapes / "eval");
    const ImageRules rules{.side = 16, .mean = {0, 0.1f, 0.2f}, .deviation = {1, 2, 4}};
    const auto data = open_images(kShapes / "eval", classes, rules);
    Batch batch = data->batch_of(1);
    data->read(0, 0, batch);
    const std::vector<float> values = fit(decoded(kShapes / "eval/cross/00.png"), 16, 3);
    EXPECT_FLOAT_EQ(batch.inputs.as<float>()[5], values[5]);
    EXPECT_FLOAT_EQ(batch.inputs.as<float>()[256 + 5], (values[256 + 5] - 0.1f) / 2);
    EXPECT_FLOAT_EQ(batch.inputs.as<float>()[512 + 5], (values[512 + 5] - 0.2f) / 4);
}

TEST(ImageFolder, RefusesWhatIsNoFolderOfClasses) {
    const Folder folder;
    const std::string png = read_file(kImages / "exact.png");
    const auto classes_of = [&](const std::string& name) {
        return sentence_of<InputError>([&] { image_classes(folder / name); });
    };
    const auto opening = [&](const std::vector<std::string>& classes) {
        return sentence_of<InputError>([&] { open_images(folder / "set", classes, {.side = 4}); });
    };
    EXPECT_THAT(classes_of("none"), EndsWith("none: error: no such file\n"));
    folder.with("empty/.hidden", "");
    EXPECT_THAT(classes_of("empty"), EndsWith("the folder has no folder for a class, and no "
                                              "data_batch_*.bin\n"));
    folder.with("set/a/1.PNG", png);
    folder.with("set/b/notes.txt", "");
    EXPECT_THAT(opening({"a"}),
                EndsWith("set/b: error: not a class of the training, whose classes are a\n"));
    EXPECT_THAT(opening({"a", "b"}), EndsWith("set/b: error: the class has no JPEG and no PNG\n"));
    const auto damaged = folder.with("set/b/2.jpg", png.substr(0, 100));
    const auto data = open_images(folder / "set", {"a", "b"}, {.side = 4});
    Batch batch = data->batch_of(1);
    EXPECT_EQ(data->read(0, 0, batch), 1);
    EXPECT_THAT(sentence_of<InputError>([&] { data->read(1, 0, batch); }),
                HasSubstr("set/b/2.jpg: error: damaged PNG: "));
}

std::string cifar_record(int label, int red, int green, int blue) {
    std::string record(1, static_cast<char>(label));
    for (const int value : {red, green, blue}) record.append(1024, static_cast<char>(value));
    return record;
}

TEST(Cifar, IsReadFromAFileOrItsFolder) {
    const Folder folder;
    folder.with("c/data_batch_2.bin", cifar_record(9, 255, 0, 51));
    folder.with("c/data_batch_1.bin", cifar_record(3, 0, 0, 0) + cifar_record(0, 0, 255, 0));
    folder.with("c/test_batch.bin", cifar_record(1, 0, 0, 0));
    folder.with("c/batches.meta.txt", "airplane");
    EXPECT_EQ(image_classes(folder / "c").at(9), "truck");
    const auto data = open_images(folder / "c", {}, {.side = 4, .mean = {0}, .deviation = {1}});
    ASSERT_EQ(data->samples(), 3);
    Batch batch = data->batch_of(3);
    for (int i = 0; i < 3; ++i) data->read(i, i, batch);
    const auto targets = batch.targets.as<std::int32_t>();
    EXPECT_THAT(std::vector(targets.begin(), targets.end()), ElementsAre(3, 0, 9));
    const float* const last = batch.inputs.as<float>().data + 2 * 48;
    EXPECT_THAT(std::vector(last, last + 16), Each(testing::FloatEq(1)));
    EXPECT_THAT(std::vector(last + 16, last + 32), Each(testing::FloatEq(0)));
    EXPECT_THAT(std::vector(last + 32, last + 48), Each(testing::FloatEq(0.2f)));
    EXPECT_EQ(open_images(folder / "c/test_batch.bin", {}, {.side = 4})->samples(), 1);
}

TEST(Cifar, RefusesAFileOfAnotherKind) {
    const Folder folder;
    const auto opening = [&](const std::string& content) {
        const auto path = folder.with("a.bin", content);
        return sentence_of<InputError>([&] { CifarImages images({path}); });
    };
    EXPECT_THAT(opening(cifar_record(1, 0, 0, 0) + "x"),
                EndsWith("not a CIFAR-10 file: its 3074 bytes are not a multiple of 3073\n"));
    EXPECT_THAT(opening(""), EndsWith("its 0 bytes are not a multiple of 3073\n"));
    EXPECT_THAT(opening(cifar_record(1, 0, 0, 0) + cifar_record(10, 0, 0, 0)),
                EndsWith("not a CIFAR-10 file: the label of image 1 is 10\n"));
}

}  // namespace
}  // namespace debubble::exec
