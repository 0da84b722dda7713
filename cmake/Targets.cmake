# How every target of the project is built. Each folder states only what it is made of.

add_library(debubble_options INTERFACE)
if(DEBUBBLE_WARNINGS)
    target_compile_options(debubble_options INTERFACE
        -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion -Wshadow
        $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)  # g++ 12 sees ghosts in std::string
endif()
# The compiler's own memory: it looks for garbage from half a GB on, and not from 128 MB, which takes a twentieth of its time.
add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,GNU>:SHELL:--param ggc-min-heapsize=524288>")
if(DEBUBBLE_UNITY)
    # Anonymous namespaces count as a header's but in the very file that is compiled.
    target_compile_options(debubble_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()
if(DEBUBBLE_WERROR)
    target_compile_options(debubble_options INTERFACE -Werror)
endif()
if(DEBUBBLE_SANITIZE)
    add_compile_options(-fsanitize=${DEBUBBLE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    add_link_options(-fsanitize=${DEBUBBLE_SANITIZE})
    if(DEBUBBLE_SANITIZE_NOT)
        add_compile_options(-fno-sanitize=${DEBUBBLE_SANITIZE_NOT})
    endif()
endif()

if(DEBUBBLE_FUZZ)
    add_compile_options(-fsanitize=fuzzer-no-link)  # coverage of the libraries guides the fuzzer
endif()

# debubble_is_quick(<target>): with DEBUBBLE_QUICK it is compiled fast instead of well, unless it acts while a step trains.
function(debubble_is_quick target)
    if(DEBUBBLE_QUICK AND NOT target MATCHES "^debubble_exec_(core|comm|cpu|nccl|cuda)")
        target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-O1>)
    endif()
endfunction()

# debubble_batches(<variable> <target> <source>...): the sources, or with DEBUBBLE_UNITY files that
# include some of them each, since half of the time goes into headers. The files name their sources from
# the project's root, hence ccache finds what another clone has compiled; those of CMAKE_UNITY_BUILD
# have absolute paths. What is not C++ or has definitions of its own is compiled by itself.
function(debubble_batches variable target)
    set(halved FALSE)
    if(NOT most)
        set(most 30)  # a batch takes up to 1.5 GB
        set(halved "${DEBUBBLE_SANITIZE}")  # sanitized code takes twice as much
    endif()
    set(together ${ARGN})
    list(FILTER together INCLUDE REGEX "^[^$]*[.]cpp$")
    foreach(source ${together})
        get_source_file_property(definitions ${source} COMPILE_DEFINITIONS)
        if(definitions)
            list(REMOVE_ITEM together ${source})
        endif()
    endforeach()
    list(LENGTH together count)
    if(NOT DEBUBBLE_UNITY OR count LESS 2)
        set(${variable} ${ARGN} PARENT_SCOPE)
        return()
    endif()
    set(units ${ARGN})
    list(REMOVE_ITEM units ${together})
    math(EXPR batches "(${count} + ${most} - 1) / ${most}")
    if(halved AND count GREATER 15)
        math(EXPR batches "2 * ${batches}")
    endif()
    foreach(batch RANGE 1 ${batches})
        math(EXPR first "(${batch} - 1) * ${count} / ${batches}")
        math(EXPR size "${batch} * ${count} / ${batches} - ${first}")
        list(SUBLIST together ${first} ${size} sources)
        set(text)
        foreach(source ${sources})
            cmake_path(ABSOLUTE_PATH source NORMALIZE)
            cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
            string(APPEND text "#include \"${source}\"\n")
        endforeach()
        set(unit ${CMAKE_CURRENT_BINARY_DIR}/${target}_${batch}.cpp)
        file(CONFIGURE OUTPUT ${unit} CONTENT "${text}" @ONLY)
        list(APPEND units ${unit})
    endforeach()
    set(${variable} ${units} PARENT_SCOPE)
endfunction()

# debubble_sources(<sources> <headers> [<folder>...] [EXCEPT <file or folder>...]): the C++ files of these
# folders (this one unless said), and of those below them, but not what EXCEPT names. A new file is found by the next build.
function(debubble_sources sources headers)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "EXCEPT")
    set(folders ${arg_UNPARSED_ARGUMENTS})
    if(NOT folders)
        set(folders .)
    endif()
    foreach(kind sources headers)
        set(suffix cpp)
        if(kind STREQUAL headers)
            set(suffix h)
        endif()
        set(found)
        foreach(folder ${folders})
            file(GLOB_RECURSE here RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS ${folder}/*.${suffix})
            list(APPEND found ${here})
        endforeach()
        foreach(left_out ${arg_EXCEPT})
            list(FILTER found EXCLUDE REGEX "^${left_out}(/|$)")
        endforeach()
        set(${${kind}} ${found} PARENT_SCOPE)
    endforeach()
endfunction()

# debubble_library(<name> [FOLDERS ...] [EXCEPT ...] [SOURCES ...] [HEADERS ...] [HOT ...] USES ... PRIVATE_USES ...)
#
# One static library, debubble_<name>, alias debubble::<name>, of the SOURCES and HEADERS and of what lies in the FOLDERS
# (see debubble_sources); of what lies in this one, where neither is said. USES names what its headers may
# include, PRIVATE_USES what only its sources may. Headers must compile alone (the target
# all_verify_interface_header_sets). HOT names the files and folders whose time is that of a plan, a pass, a frame or a
# step (all: `.`): a release compiles the others with -O1, which takes two thirds of the time.
function(debubble_library name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "FOLDERS;EXCEPT;SOURCES;HEADERS;HOT;USES;PRIVATE_USES")
    set(target debubble_${name})
    set(sources)
    set(headers)
    if(arg_FOLDERS OR NOT (arg_SOURCES OR arg_HEADERS))
        debubble_sources(sources headers ${arg_FOLDERS} EXCEPT ${arg_EXCEPT})
    endif()
    list(APPEND sources ${arg_SOURCES})
    list(APPEND headers ${arg_HEADERS})
    if(sources)
        set(kind PUBLIC)
        set(cold ${sources})
        foreach(hot ${arg_HOT})
            if(hot STREQUAL ".")
                set(cold)
            endif()
            list(FILTER cold EXCLUDE REGEX "^${hot}(/|$)")
        endforeach()
        list(REMOVE_ITEM sources ${cold})
        debubble_batches(units ${target} ${sources})
        debubble_batches(cold_units ${target}_cold ${cold})
        set_property(SOURCE ${cold_units} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-O1>)
        add_library(${target} STATIC ${units} ${cold_units})
        if(CMAKE_AUTOMOC)
            target_sources(${target} PRIVATE ${headers})  # else found beside their sources
        endif()
        target_link_libraries(${target} PRIVATE debubble_options ${arg_PRIVATE_USES})
        debubble_is_quick(${target})
        # libdebubble consists of them, too; hidden, position-independent code is no slower.
        if(DEBUBBLE_PYTHON AND NOT target MATCHES "^debubble_(exec|viewmodel|widgets)")
            set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
                VISIBILITY_INLINES_HIDDEN ON)
        endif()
    else()
        set(kind INTERFACE)
        add_library(${target} INTERFACE)
    endif()
    add_library(debubble::${name} ALIAS ${target})
    target_sources(${target} ${kind} FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${headers})
    target_compile_features(${target} ${kind} cxx_std_20)
    target_link_libraries(${target} ${kind} ${arg_USES})
endfunction()

# `./dev test` runs every test in one configuration. The target unit_tests is what it builds in the preset
# `dev`, where assertions and sanitizers watch, and runs but for the label `release`. Its entries run in the
# preset `release`, which builds the target release_tests for them: the programs from outside, jobs of
# processes, and what sanitizers cannot follow.
add_custom_target(unit_tests)
add_custom_target(release_tests)

# debubble_programs_are_tested(<target>...): both configurations build it; the tests of the window start some
# programs, and only `dev` takes warnings as errors.
function(debubble_programs_are_tested)
    foreach(target ${ARGN})
        if(TARGET ${target})
            add_dependencies(unit_tests ${target})
            add_dependencies(release_tests ${target})
        endif()
    endforeach()
endfunction()

# debubble_release_tests(TESTS <entry of ctest>... [NEEDS <target>...])
function(debubble_release_tests)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "TESTS;NEEDS")
    set_property(TEST ${arg_TESTS} APPEND PROPERTY LABELS release)
    foreach(target ${arg_NEEDS})
        if(TARGET ${target})
            add_dependencies(release_tests ${target})
        endif()
    endforeach()
endfunction()
