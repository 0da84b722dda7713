# Packages for Debian 12, and an archive that needs no installation. `./dev package` makes them. Each component of
# `install` is a package: `debubble` is the command line with its data, which needs no Qt; `gui` and `mpi` are what
# needs Qt and Open MPI.
set(CMAKE_INSTALL_DOCDIR ${CMAKE_INSTALL_DATAROOTDIR}/doc)
set(DEBUBBLE_CONTACT "The debubble authors <maintainers@debubble.org>")
configure_file(cmake/package/changelog.in package/changelog @ONLY)

install(FILES LICENSE README.md ARCHITECTURE.md CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/debubble)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR}/debubble
    FILES_MATCHING REGEX "[.](md|png|svg|json)$")
# Job scripts to copy, which docs/jobs/slurm.md explains.
install(PROGRAMS docs/slurm/sweep.sbatch docs/slurm/sweep-array.sbatch docs/slurm/train.sbatch DESTINATION ${CMAKE_INSTALL_DATADIR}/debubble/slurm)

# The program writes its manual, and those of the programs beside it.
function(debubble_install_manual component pages)
    install(CODE "
        set(pages \"${PROJECT_BINARY_DIR}/manual\")
        file(REMOVE_RECURSE \"\${pages}\")
        execute_process(COMMAND \"$<TARGET_FILE:debubble>\" help --man \"\${pages}\" COMMAND_ERROR_IS_FATAL ANY)
        file(GLOB chosen RELATIVE \"\${pages}\" \"\${pages}/man*/*\")
        list(FILTER chosen ${pages})
        foreach(page IN LISTS chosen)
            cmake_path(GET page PARENT_PATH section)
            file(INSTALL \"\${pages}/\${page}\"
                DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/\${section}\")
        endforeach()" COMPONENT ${component})
endfunction()
debubble_install_manual(debubble "EXCLUDE REGEX debubble-gui")
set(components debubble)
if(TARGET debubble-gui)
    debubble_install_manual(gui "INCLUDE REGEX debubble-gui")
    list(APPEND components gui)
endif()
if(TARGET debubble_mpi)
    list(APPEND components mpi)
endif()

if(NOT DEBUBBLE_PACKAGE)
    return()
endif()
foreach(component ${components})
    set(name debubble-${component})
    if(component STREQUAL debubble)
        set(name debubble)
    endif()
    install(FILES cmake/package/copyright ${PROJECT_BINARY_DIR}/package/changelog
        DESTINATION ${CMAKE_INSTALL_DOCDIR}/${name} COMPONENT ${component})
endforeach()

install(CODE "set(programs $<TARGET_FILE:debubble> $<TARGET_FILE:debubble-exec>)
    include(\"${PROJECT_SOURCE_DIR}/cmake/package/libraries.cmake\")" COMPONENT libraries EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME debubble)
set(CPACK_PACKAGE_VERSION ${DEBUBBLE_VERSION})
set(CPACK_PACKAGE_CONTACT ${DEBUBBLE_CONTACT})
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGE_FILE_NAME debubble-${DEBUBBLE_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_COMPONENTS_ALL ${components})
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/package/generators.cmake)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/package/finish.cmake)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_DEBUBBLE_PACKAGE_NAME debubble)
set(CPACK_DEBIAN_DEBUBBLE_PACKAGE_SUGGESTS "debubble-gui, debubble-mpi")
set(CPACK_COMPONENT_DEBUBBLE_DESCRIPTION "plan, predict and run pipeline-parallel training
debubble plans the training of transformers on many GPUs. It plays one step
of a schedule on a described cluster, and says how long the step takes, why
devices wait, and what each of them holds in memory. The same program of
actions trains networks on the processor cores of this machine.
.
This package has the command line, with models, clusters and scenarios.")
set(CPACK_DEBIAN_GUI_PACKAGE_NAME debubble-gui)
set(CPACK_DEBIAN_GUI_PACKAGE_DEPENDS "debubble (= ${DEBUBBLE_VERSION})")
set(CPACK_DEBIAN_GUI_PACKAGE_SUGGESTS "ffmpeg, qt6-translations-l10n")
set(CPACK_COMPONENT_GUI_DESCRIPTION "window of the pipeline-parallel training planner
debubble plans the training of transformers on many GPUs. This package has
its window, in which a plan is predicted as it is typed: timelines with the
cause of each bubble, memory, sweeps, and comparisons with what ran.")
set(CPACK_DEBIAN_MPI_PACKAGE_NAME debubble-mpi)
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "debubble (= ${DEBUBBLE_VERSION})")
set(CPACK_DEBIAN_MPI_PACKAGE_RECOMMENDS "openmpi-bin")
set(CPACK_COMPONENT_MPI_DESCRIPTION "ranks over MPI for the pipeline-parallel training planner
debubble plans the training of transformers on many GPUs, and trains networks
on processor cores. This package has the module by which the processes of a
training that mpirun starts exchange tensors. Ranks that are threads, or
processes over TCP, do not need it.")
include(CPack)
