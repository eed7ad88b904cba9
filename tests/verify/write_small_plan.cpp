// Writes the small plan, for the checker that is written in another language.
#include "place/plan_file/plan_file.h"
#include "tests/verify/small_plan.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  isochrone::place::write_plan(isochrone::place::small_plan(), argv[1]);
  return 0;
}
