#!/usr/bin/python3
"""Tests of check_plan.py: check_plan_test.py MODULE_FOLDER PLAN, a plan without fault."""

import os
import subprocess
import sys
import unittest
from fractions import Fraction

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
MODULES, PLAN = sys.argv[1], sys.argv[2]
sys.path.insert(0, MODULES)

import check_plan  # noqa: E402
from place import plan_pb2  # noqa: E402


def whole_plan():
    plan = plan_pb2.Plan()
    with open(PLAN, "rb") as file:
        plan.ParseFromString(file.read())
    return plan


def faults_after(change):
    plan = whole_plan()
    change(plan)
    return check_plan.Checker(plan).run()


class CheckerTest(unittest.TestCase):
    def assert_names(self, where, change):
        faults = faults_after(change)
        self.assertTrue(any(fault.startswith(where) for fault in faults), faults)

    def test_a_plan_that_the_program_wrote_has_no_fault(self):
        self.assertEqual(check_plan.Checker(whole_plan()).run(), [])

    def test_a_wrong_number_is_named_with_its_place(self):
        def set_field(path, value):
            def change(plan):
                target = plan
                *parents, last = path
                for step in parents:
                    target = target[step] if isinstance(step, int) else getattr(target, step)
                if isinstance(last, int):
                    target[last] = value
                else:
                    setattr(target, last, value)

            return change

        cases = {
            "format": (("format",), 2),
            "provenance.scenario_hash": (("scenario_normalised",), '{"name": "x"}'),
            "pools[0].site": (("pools", 0, "site"), 9),
            "pools[0].gpus": (("pools", 0, "gpus"), 16),
            "pools[1].capacity": (("pools", 1, "capacity"), 3_300_000),
            "pools[0].degraded_capacity": (("pools", 0, "degraded_capacity"), 1),
            "pools[0].peak_utilisation": (("pools", 0, "peak_utilisation"), 0.9),
            "pools[0].max_num_seqs": (("pools", 0, "max_num_seqs"), 64),
            "assignments of consumers in de-berlin": (
                ("assignments", 0, "share_ppb", 3),
                999_999_999,
            ),
            "assignments[0].country": (("assignments", 0, "country"), "FR"),
            "assignments[0].rtt_us": (("assignments", 0, "rtt_us"), 120_001),
            "assignments[1].reach_us": (("assignments", 1, "reach_us"), 130_000),
            "assignments[1].rtt_basis": (("assignments", 1, "rtt_basis"), "guessed"),
            "totals.bill_usd_micro": (("bill", 0, "usd_micro"), 1),
            "bill, fixed lines of best/ashburn": (("sites", 1, "fixed_usd_micro"), 5),
            "totals.gpus": (("totals", "gpus"), 31),
            "bound.objective_usd_micro": (
                ("bound", "objective_usd_micro"),
                60_000_000_000,
            ),
            "bound.gap_ppm": (("bound", "gap_ppm"), 1),
        }
        for where, (path, value) in cases.items():
            with self.subTest(where):
                self.assert_names(where, set_field(path, value))

    def test_a_pool_that_gets_more_than_it_carries_is_named(self):
        def change(plan):
            plan.populations[1].load[7] = 3_200_001

        self.assert_names("pools[1].capacity", change)

    def test_a_scenario_limit_is_read_from_the_plan(self):
        def change(plan):
            plan.scenario_normalised = '{"limits": {"max_sites": 1}}'

        self.assert_names("sites", change)

    def test_capacity_per_replica_is_linear_between_the_support(self):
        # 2 carry 3.5 each and 4 carry 3.9 each: 3 carry 3.7 each.
        self.assertEqual(check_plan.carried([2, 4], [7_000, 15_600], 3), 11_100)
        self.assertEqual(check_plan.carried([2, 4], [7_000, 15_600], 8), 31_200)
        self.assertEqual(Fraction(11_100, 3), Fraction(3_700))

    def test_the_program_ends_with_7_for_a_damaged_file_and_0_for_a_whole_one(self):
        with open(PLAN, "rb") as file:
            content = file.read()
        damaged = PLAN + ".damaged"
        with open(damaged, "wb") as file:
            file.write(content[:-1])
        script = os.path.join(HERE, "check_plan.py")
        for path, code in ((PLAN, 0), (damaged, 7)):
            run = subprocess.run(
                [sys.executable, script, MODULES, path], stdout=subprocess.PIPE, check=False
            )
            self.assertEqual(run.returncode, code, run.stdout)
        os.remove(damaged)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
