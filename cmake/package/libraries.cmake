# Lays down the libraries that the programs of the archive need: all but those of the C and C++ compilers, which must be
# those of the machine. Input: programs.
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${programs}
    RESOLVED_DEPENDENCIES_VAR libraries
    UNRESOLVED_DEPENDENCIES_VAR missing
    POST_EXCLUDE_REGEXES "/(ld-linux[^/]*|libc|libm|libdl|librt|libpthread|libstdc[+][+]|libgcc_s)[.]so[.0-9]*$")
if(missing)
    message(FATAL_ERROR "the programs of the archive need ${missing}, which cannot be found")
endif()
file(INSTALL ${libraries} DESTINATION ${CMAKE_INSTALL_PREFIX}/lib/debubble FOLLOW_SYMLINK_CHAIN)

# With the terms of each library, as its package states them.
foreach(library IN LISTS libraries)
    file(REAL_PATH ${library} library)
    cmake_path(GET library FILENAME name)  # alone, since /lib is a link to /usr/lib that dpkg does not know of
    execute_process(COMMAND dpkg-query -S */${name} OUTPUT_VARIABLE owner COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX REPLACE ":.*" "" owner "${owner}")
    file(INSTALL /usr/share/doc/${owner}/copyright RENAME ${owner}.txt
        DESTINATION ${CMAKE_INSTALL_PREFIX}/share/doc/debubble/libraries)
endforeach()
