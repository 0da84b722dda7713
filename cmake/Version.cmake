# DEBUBBLE_VERSION: what `--version` and the packages say. For packages it comes from git: 0.2.0 at the tag v0.2.0,
# 0.2.0+7.g1a2b3c4 seven commits later, and 0.1.0~321.g1a2b3c4 where no tag leads to the commit yet, which dpkg sorts
# before 0.1.0. Elsewhere, and without git, it is the project's, so that a commit compiles nothing anew.
function(debubble_git variable)
    execute_process(COMMAND git ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
        OUTPUT_VARIABLE answer OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
    if(failed)
        set(answer "")
    endif()
    set(${variable} "${answer}" PARENT_SCOPE)
endfunction()

set(DEBUBBLE_VERSION ${PROJECT_VERSION})
# Packages made of the same commit are dated alike.
set(DEBUBBLE_DATE "Thu, 01 Jan 1970 00:00:00 +0000")
if(DEBUBBLE_PACKAGE)
    # A copy of the sources may lie inside a repository of something else.
    debubble_git(root rev-parse --show-cdup)
    debubble_git(commit rev-parse --short HEAD)
    if(commit AND root STREQUAL "")
        debubble_git(described describe --tags --long --match "v[0-9]*")
        debubble_git(DEBUBBLE_DATE log -1 --format=%cD)
        if(described MATCHES "^v([0-9.]+)-([0-9]+)-(g[0-9a-f]+)$")
            set(DEBUBBLE_VERSION ${CMAKE_MATCH_1})
            if(CMAKE_MATCH_2 GREATER 0)
                string(APPEND DEBUBBLE_VERSION "+${CMAKE_MATCH_2}.${CMAKE_MATCH_3}")
            endif()
        else()
            debubble_git(commits rev-list --count HEAD)
            string(APPEND DEBUBBLE_VERSION "~${commits}.g${commit}")
        endif()
    endif()
endif()
