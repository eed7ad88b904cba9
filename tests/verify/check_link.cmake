# Proves that the verifier shares no code with what it checks: fails if the link of a
# program that uses it takes in the search, the planner or the simulator.
#   cmake -DNM=nm -DPROGRAM=verify_tests -DLIBRARIES=a;b -P check_link.cmake
cmake_minimum_required(VERSION 3.25)
foreach(library IN LISTS LIBRARIES)
  if(library MATCHES "isochrone(::|_)(core|planner|sim|place_core|place)$")
    message(FATAL_ERROR "isochrone_verify links ${library}")
  endif()
endforeach()
execute_process(COMMAND ${NM} -C --defined-only ${PROGRAM}
                OUTPUT_VARIABLE symbols RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "${NM} cannot read ${PROGRAM}")
endif()
if(NOT symbols MATCHES "isochrone::verify::verify\\(")
  message(FATAL_ERROR "${PROGRAM} does not hold the verifier")
endif()
foreach(word "isochrone::sim::" "isochrone::place::solve\\(" "isochrone::place::evaluate_bound\\("
             "isochrone::place::carried_load\\(" "isochrone::place::build_tables\\("
             "isochrone::place::make_plan\\(" "isochrone::place::Model::")
  if(symbols MATCHES "${word}")
    message(FATAL_ERROR "${PROGRAM} holds ${word}")
  endif()
endforeach()
