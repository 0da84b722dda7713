#include "scenarios/read/sweep.h"

#include <gtest/gtest.h>

#include "base/diagnostic.h"

namespace debubble::scenarios {
namespace {

ExpressionValue lookup(const std::string& key) {
    if (key == "a") return 6.0;
    if (key == "b.c") return 4.0;
    return std::string("zb-h1");
}

struct Case {
    const char* text;
    double value;
};

TEST(Expression, BindsAsPythonDoes) {
    for (const Case& c : {Case{"1 + 2 * 3", 7},
                          {"(1 + 2) * 3", 9},
                          {"8 - 4 - 2", 2},
                          {"8 / 4 / 2", 1},
                          {"-7 % 3", 2},
                          {"2 * -3", -6},
                          {"a * b.c", 24},
                          {"a % b.c == 2", 1},
                          {"a > b.c and a < 5", 0},
                          {"1 or 1 / 0", 1},
                          {"0 and 1 / 0", 0},
                          {"not a == 6", 0},
                          {"not 0 and 1", 1},
                          {"name == 'zb-h1'", 1},
                          {"name != \"1f1b\" and a >= 6", 1},
                          {"name == 3", 0},
                          {"0.5 + 0.25", 0.75}})
        EXPECT_EQ(std::get<double>(Expression(c.text).evaluate(lookup)), c.value) << c.text;
}

TEST(Expression, NamesTheKeysItAsksFor) {
    EXPECT_EQ(Expression("a * b.c <= a + orx").keys(),
              (std::vector<std::string>{"a", "b.c", "orx"}));
}

TEST(Expression, RefusesWhatItCannotRead) {
    for (const std::string& text :
         {std::string(""), std::string("1 +"), std::string("(1"), std::string("1)"),
          std::string("a b"), std::string("'x"), std::string("1.2.3"), std::string("a = 3"),
          std::string("$"), std::string("a..") + "+", std::string(1000, '('),
          std::string(1000, '-'), "1" + std::string(1500, '+'), std::string(3000, '1')})
        EXPECT_THROW(Expression{text}, InputError) << text;
    EXPECT_THROW(Expression("1 / 0").evaluate(lookup), InputError);
    EXPECT_THROW(Expression("1 % (a - 6)").evaluate(lookup), InputError);
    EXPECT_THROW(Expression("name + 1").evaluate(lookup), InputError);
}

}  // namespace
}  // namespace debubble::scenarios
