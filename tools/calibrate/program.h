#pragma once

#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/diagnostics.h"

namespace isochrone::calibrate {

/// main() of the programs of this folder. Ends with what `run` returns; with 2 for
/// wrong arguments (std::invalid_argument) or input, with 1 for any other failure, the
/// reason on standard error.
inline int run_program(int count, char** values,
                       int (*run)(const std::vector<std::string>&)) {
  try {
    return run({values + 1, values + count});
  } catch (const InputError& error) {
    std::cerr << error.what();
    return 2;
  } catch (const std::invalid_argument& error) {
    std::cerr << error.what() << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
    return 1;
  }
}

}  // namespace isochrone::calibrate
