# Helpers for the rooms: flags, one static library per room, its layering test.

add_library(isochrone_flags INTERFACE)
target_compile_options(isochrone_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -ffp-contract=off
  # g++ 12 sees overlapping copies in "text" + std::string (GCC bug 105651) and unset
  # values in std::optional (GCC bug 80635) at -O2. clang-tidy reads these flags too and
  # does not know the options.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<NOT:$<BOOL:${CMAKE_CXX_CLANG_TIDY}>>>:-Wno-restrict$<SEMICOLON>-Wno-maybe-uninitialized>
  $<$<BOOL:${ISOCHRONE_WERROR}>:-Werror>)
if(ISOCHRONE_SANITIZE)
  add_compile_options(-fsanitize=${ISOCHRONE_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${ISOCHRONE_SANITIZE})
endif()

# room(NAME SOURCES ... USES left-hand rooms ... [LINKS ...] [PUBLIC_LINKS ...])
# Makes library isochrone_<name>, alias isochrone::<name>, and the test layers.<name>.
function(room NAME)
  cmake_parse_arguments(R "" "" "SOURCES;USES;LINKS;PUBLIC_LINKS" ${ARGN})
  add_library(isochrone_${NAME} STATIC ${R_SOURCES})
  add_library(isochrone::${NAME} ALIAS isochrone_${NAME})
  target_include_directories(isochrone_${NAME} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(isochrone_${NAME} PRIVATE isochrone_flags ${R_LINKS}
                                          PUBLIC ${R_PUBLIC_LINKS})
  foreach(used IN LISTS R_USES)
    target_link_libraries(isochrone_${NAME} PUBLIC isochrone::${used})
  endforeach()
  add_test(NAME layers.${NAME}
           COMMAND ${CMAKE_COMMAND} -DROOM=${NAME} "-DALLOWED=${R_USES}"
                   -DROOT=${PROJECT_SOURCE_DIR}
                   -P ${PROJECT_SOURCE_DIR}/cmake/check_layers.cmake)
endfunction()

# room_protos(TARGET PROTO...): compiles protos into an own warning-free library with
# include root in the build tree, e.g. #include "scenarios/scenario.pb.h".
function(room_protos TARGET)
  add_library(${TARGET} STATIC)
  foreach(proto IN LISTS ARGN)
    string(REGEX REPLACE "\\.proto$" ".pb" stem ${proto})
    add_custom_command(
      OUTPUT ${PROJECT_BINARY_DIR}/gen/${stem}.cc ${PROJECT_BINARY_DIR}/gen/${stem}.h
      COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/gen
      COMMAND protobuf::protoc --cpp_out=${PROJECT_BINARY_DIR}/gen
              -I${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/${proto}
      DEPENDS ${PROJECT_SOURCE_DIR}/${proto} VERBATIM)
    target_sources(${TARGET} PRIVATE ${PROJECT_BINARY_DIR}/gen/${stem}.cc)
  endforeach()
  target_include_directories(${TARGET} SYSTEM PUBLIC ${PROJECT_BINARY_DIR}/gen)
  target_link_libraries(${TARGET} PUBLIC protobuf::libprotobuf)
endfunction()
