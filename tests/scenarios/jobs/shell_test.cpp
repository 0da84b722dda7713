#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "scenarios/jobs/shell/value.h"

namespace debubble::jobs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ShellScript followed(const std::string& text) {
    return follow_script(std::make_shared<text::SourceText>(text::SourceText{"train.sh", text, 1}));
}

std::vector<std::string> words_of_last(const std::string& text) {
    const ShellScript script = followed(text);
    std::vector<std::string> words;
    if (script.commands.empty()) return words;
    for (const ShellText& word : script.commands.back().words) words.push_back(word.text);
    return words;
}

std::string mistake_in(const std::string& text) {
    try {
        followed(text);
    } catch (const InputError& error) {
        return error.what();
    }
    return {};
}

TEST(ShellScript, PutsVariablesArraysAndContinuationLinesIntoACommand) {
    EXPECT_THAT(
        words_of_last("N=4\n"
                      "ARGS=(\n"
                      "  --a $N  # a comment\n"
                      "  --b \"two words\"\n"
                      ")\n"
                      "ARGS+=(--c)\n"
                      "MORE=\"--d ${N}\"\n"
                      "torchrun \\\n"
                      "  run.py \"${ARGS[@]}\" $MORE\n"),
        ElementsAre("torchrun", "run.py", "--a", "4", "--b", "two words", "--c", "--d", "4"));
}

TEST(ShellScript, CutsUnquotedArraysAtBlanksAsBashDoes) {
    EXPECT_THAT(words_of_last("A=(\"x y\" z)\nrun ${A[@]}\n"), ElementsAre("run", "x", "y", "z"));
}

TEST(ShellScript, ComputesArithmeticAndDefaults) {
    EXPECT_THAT(words_of_last("A=6\nB=$((A * (7 + 1) / 2 % 100))\nrun $B ${C:-$((2**10))} "
                              "${A:+set} ${#A} ${A/6/7}\n"),
                ElementsAre("run", "24", "1024", "set", "1", testing::_));
}

TEST(ShellScript, KnowsWhatOnlyARunKnows) {
    const ShellScript script = followed("A=$1\nB=$(hostname)\nrun $A $B $C done\n");
    ASSERT_EQ(script.commands.size(), 1U);
    const std::vector<ShellText>& words = script.commands.front().words;
    ASSERT_EQ(words.size(), 5U);
    EXPECT_FALSE(words[1].known);
    EXPECT_FALSE(words[2].known);
    EXPECT_FALSE(words[3].known);
    EXPECT_TRUE(words[4].known);
}

TEST(ShellScript, TakesTheBranchesWhoseConditionsHold) {
    EXPECT_THAT(words_of_last("A=2\n"
                              "if [[ $A -eq 1 ]]; then B=one\n"
                              "elif [ \"$A\" = 2 ] && [[ -z ${UNSET:-} ]]; then B=two\n"
                              "else B=three; fi\n"
                              "[ $A -gt 5 ] && B=four\n"
                              "case $B in one) C=1 ;; t*) C=2 ;; *) C=3 ;; esac\n"
                              "for D in 7 8; do E+=$D; done\n"
                              "f() { F=inside; }\n"
                              "f\n"
                              "run $B $C $E $F\n"),
                ElementsAre("run", "two", "2", "78", "inside"));
}

TEST(ShellScript, LeavesHereDocumentsAndRedirectionsOut) {
    EXPECT_THAT(words_of_last("cat > x.sh << EOF\n--not-a-flag 'open\nEOF\nrun --a 1 2>&1 | tee "
                              "log\n"),
                ElementsAre("tee", "log"));
    EXPECT_EQ(followed("cat << EOF\n'\nEOF\nrun --a 1 > out 2>&1\n").commands.back().words.size(),
              3U);
}

TEST(ShellScript, NamesThePlaceOfAValueInItsArray) {
    const ShellScript script = followed("A=(\n  --x 1\n  --y 2\n)\nrun ${A[@]}\n");
    const ShellText& y = script.commands.back().words[3];
    EXPECT_EQ(y.text, "--y");
    EXPECT_EQ(script.place(y.offset()).line, 3);
    EXPECT_EQ(script.place(y.offset()).column, 3);
}

TEST(ShellScript, SaysWhereAQuoteOrABracketHasNoEnd) {
    EXPECT_THAT(mistake_in("a\nb='x\n"), HasSubstr("train.sh:2:3: error: this ' is not closed"));
    EXPECT_THAT(mistake_in("a=${b\n"), HasSubstr("train.sh:1:"));
    EXPECT_THAT(mistake_in("a=(b\n"), HasSubstr("this ( is not closed"));
    EXPECT_THAT(mistake_in("if true; then\n"), HasSubstr("this 'if' has no 'fi'"));
}

TEST(ShellScript, RefusesArithmeticThatOverflowsOrRefersToItself) {
    EXPECT_THAT(mistake_in("a=$((9223372036854775807 + 1))\n"), HasSubstr("exceeds 64 bits"));
    EXPECT_THAT(mistake_in("a=$((2**64))\n"), HasSubstr("exceeds 64 bits"));
    EXPECT_THAT(mistake_in("a=$((1 / 0))\n"), HasSubstr("divides by 0"));
    EXPECT_THAT(mistake_in("a=b\nb=a\nc=$((a))\n"), HasSubstr("circular variables"));
}

TEST(ShellScript, RefusesVariablesThatGrowWithoutBound) {
    std::string text = "a=xxxxxxxxxxxxxxxx\n";
    for (int i = 0; i < 40; ++i) text += "a=$a$a\n";
    EXPECT_THAT(mistake_in(text), HasSubstr("variables exceed"));
    std::string sums = "a=1\n";
    for (int i = 0; i < 40; ++i) sums += "a=\"($a)+($a)\"\nb=$((a))\n";
    EXPECT_NE(mistake_in(sums), "");
}

}  // namespace
}  // namespace debubble::jobs
