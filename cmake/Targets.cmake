# How every target of the project is built. Each folder states only what it is made of.

add_library(debubble_options INTERFACE)
target_compile_options(debubble_options INTERFACE
    -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion -Wshadow
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)  # g++ 12 sees ghosts in std::string
if(DEBUBBLE_WERROR)
    target_compile_options(debubble_options INTERFACE -Werror)
endif()
if(DEBUBBLE_SANITIZE)
    add_compile_options(-fsanitize=${DEBUBBLE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    add_link_options(-fsanitize=${DEBUBBLE_SANITIZE})
endif()

if(DEBUBBLE_FUZZ)
    add_compile_options(-fsanitize=fuzzer-no-link)  # coverage of the libraries guides the fuzzer
endif()

# debubble_library(<name> SOURCES ... HEADERS ... USES ... PRIVATE_USES ...)
#
# One static library per folder, debubble_<name>, alias debubble::<name>. USES names what its
# headers may include, PRIVATE_USES what only its sources may. Headers must compile alone
# (the target all_verify_interface_header_sets).
function(debubble_library name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;HEADERS;USES;PRIVATE_USES")
    set(target debubble_${name})
    if(arg_SOURCES)
        set(kind PUBLIC)
        add_library(${target} STATIC ${arg_SOURCES})
        target_link_libraries(${target} PRIVATE debubble_options ${arg_PRIVATE_USES})
    else()
        set(kind INTERFACE)
        add_library(${target} INTERFACE)
    endif()
    add_library(debubble::${name} ALIAS ${target})
    target_sources(${target} ${kind} FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${arg_HEADERS})
    target_compile_features(${target} ${kind} cxx_std_20)
    target_link_libraries(${target} ${kind} ${arg_USES})
endfunction()

# debubble_tests(<name> [THREADS] SOURCES ... USES ...): one executable and one ctest entry per
# folder. THREADS: what it tests runs on several threads, so that thread sanitizer shall see it (the
# label `threads` and the target threads_tests).
add_custom_target(threads_tests)
function(debubble_tests name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "THREADS" "" "SOURCES;USES")
    set(target ${name}_tests)
    add_executable(${target} ${arg_SOURCES})
    target_link_libraries(${target} PRIVATE debubble_options debubble_test_libraries ${arg_USES})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
    if(DEBUBBLE_PRECOMPILE)
        target_precompile_headers(${target} REUSE_FROM precompiled_test_headers)
    endif()
    add_test(NAME ${name} COMMAND ${target})
    set_tests_properties(${name} PROPERTIES TIMEOUT 600)
    if(arg_THREADS)
        set_tests_properties(${name} PROPERTIES LABELS threads)
        add_dependencies(threads_tests ${target})
    endif()
endfunction()

# debubble_fuzzer(<name> SOURCES ... USES ...): the program <name>_fuzz. With DEBUBBLE_FUZZ (clang)
# it is a libFuzzer target; else it replays tests/fuzz/corpus/<name> and is a ctest entry.
function(debubble_fuzzer name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;USES")
    set(target ${name}_fuzz)
    add_executable(${target} ${arg_SOURCES})
    target_link_libraries(${target} PRIVATE debubble_options debubble::base ${arg_USES})
    add_dependencies(fuzzers ${target})
    if(DEBUBBLE_FUZZ)
        target_link_options(${target} PRIVATE -fsanitize=fuzzer)
        return()
    endif()
    target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests/fuzz/replay_corpus.cpp)
    add_test(NAME fuzz_corpus_${name}
        COMMAND ${target} ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name})
endfunction()
