#include "tests/support/run_tests.h"

int main(int argc, char** argv) {
    return debubble::run_tests(argc, argv);
}
