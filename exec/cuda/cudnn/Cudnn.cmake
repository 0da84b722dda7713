# Attention by cuDNN: a module of its own, so that the other one loads where cuDNN is missing. Its
# front end is headers only, which come with PyPI's nvidia-cudnn-frontend.
set(DEBUBBLE_CUDNN AUTO CACHE STRING
    "Attention by cuDNN, to be asked for: AUTO, ON, OFF, or FETCH its front end from PyPI")
if(DEBUBBLE_CUDNN STREQUAL "OFF")
    return()
endif()
if(DEBUBBLE_CUDNN STREQUAL "FETCH" AND NOT CUDNN_FRONTEND_INCLUDE_DIR)
    set(folder ${PROJECT_BINARY_DIR}/cudnn-frontend)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    file(MAKE_DIRECTORY ${folder})
    execute_process(
        COMMAND ${Python3_EXECUTABLE} -m pip download --quiet --no-deps --only-binary=:all:
                --dest ${folder} nvidia-cudnn-frontend==1.32.0
        RESULT_VARIABLE failed)
    file(GLOB wheel ${folder}/nvidia_cudnn_frontend-1.32.0-*.whl)
    if(failed OR NOT wheel)
        message(FATAL_ERROR "DEBUBBLE_CUDNN is FETCH, and pip could not download cuDNN's front end")
    endif()
    file(ARCHIVE_EXTRACT INPUT ${wheel} DESTINATION ${folder} PATTERNS "include/*")
    set(CUDNN_FRONTEND_INCLUDE_DIR ${folder}/include CACHE PATH "Where cudnn_frontend.h is" FORCE)
endif()
find_path(CUDNN_FRONTEND_INCLUDE_DIR cudnn_frontend.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
find_path(CUDNN_INCLUDE_DIR cudnn.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
find_library(CUDNN_LIBRARY cudnn HINTS ${CUDAToolkit_LIBRARY_DIR})
if(NOT CUDNN_FRONTEND_INCLUDE_DIR OR NOT CUDNN_INCLUDE_DIR OR NOT CUDNN_LIBRARY)
    if(NOT DEBUBBLE_CUDNN STREQUAL "AUTO")
        message(FATAL_ERROR "DEBUBBLE_CUDNN is ${DEBUBBLE_CUDNN}, and cuDNN or its front end is missing")
    endif()
    message(STATUS "no cuDNN with its front end: attention is by kernels of our own")
    return()
endif()
add_library(debubble_cudnn_graphs STATIC cudnn/graphs.cpp)
set_target_properties(debubble_cudnn_graphs PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_compile_features(debubble_cudnn_graphs PUBLIC cxx_std_20)
# g++ 12 sees an overflow in the front end that its own checks rule out.
target_compile_options(debubble_cudnn_graphs PUBLIC -Wno-stringop-overflow)
target_include_directories(debubble_cudnn_graphs PUBLIC ${PROJECT_SOURCE_DIR})
target_include_directories(debubble_cudnn_graphs SYSTEM PUBLIC
    ${CUDNN_FRONTEND_INCLUDE_DIR} ${CUDNN_INCLUDE_DIR} ${CUDAToolkit_INCLUDE_DIRS})
target_link_libraries(debubble_cudnn_graphs
    PRIVATE debubble_options
    PUBLIC ${CUDNN_LIBRARY} CUDA::cudart_static)
add_library(debubble_cudnn MODULE ${PROJECT_SOURCE_DIR}/base/diagnostic.cpp cudnn/library.cpp)
set_target_properties(debubble_cudnn PROPERTIES
    PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
target_link_libraries(debubble_cudnn PRIVATE debubble_options debubble_cudnn_graphs fmt::fmt)
target_link_options(debubble_cudnn PRIVATE LINKER:--no-undefined)
