#!/usr/bin/python3
"""Checks a plan file without any code of the program that wrote it.

    check_plan.py MODULE_FOLDER PLAN

MODULE_FOLDER holds place/plan_pb2.py, made by `protoc --python_out`. Every fault is
printed as `where: what is wrong`; exit code 0: none, 7: some, 2: wrong usage.

What a plan says about itself is checked here: sums, arithmetic, capacities, reach,
limits, the order of bound and cost. What only scenario and data can tell (prices,
distances, law, the bound itself) is checked by `isochrone verify`.
"""

import hashlib
import json
import sys
from collections import defaultdict
from fractions import Fraction

WHOLE = 10**9  # parts of a share
FEWEST_WINDOWS = 48  # of a cell: fewer show nothing
HASH_FIELD = 67  # tag, length and 64 digits of content_hash


class Checker:
    def __init__(self, plan):
        self.plan = plan
        self.faults = []
        self.scenario = json.loads(plan.scenario_normalised or "{}")
        self.populations = {(p.demand, p.metro): p for p in plan.populations}

    def expect(self, holds, where, message):
        if not holds:
            self.faults.append(f"{where}: {message}")

    def equal(self, claimed, should, where):
        self.expect(claimed == should, where, f"{claimed}, it should be {should}")

    def run(self):
        self.equal(self.plan.format, 1, "format")
        lived_through = self.plan.status == "planned"
        if not lived_through and self.plan.status != "interrupted":
            self.expect(self.plan.conflicts, "conflicts", "none is told")
            return self.faults
        if not self.indices_hold():
            return self.faults
        self.check_provenance()
        self.check_pools()
        self.check_shares()
        self.check_loads()
        self.check_assignments()
        self.check_limits()
        self.check_bill()
        self.check_bound()
        if lived_through:
            self.check_cells()
        else:
            self.expect(not self.plan.cells, "cells", "an interrupted plan has none")
        return self.faults

    def indices_hold(self):
        for i, pool in enumerate(self.plan.pools):
            self.expect(pool.site < len(self.plan.sites), f"pools[{i}].site", "no such site")
            self.expect(
                pool.table < len(self.plan.tables), f"pools[{i}].table", "no such table"
            )
        for i, assignment in enumerate(self.plan.assignments):
            self.expect(
                assignment.pool < len(self.plan.pools),
                f"assignments[{i}].pool",
                "no such pool",
            )
        return not self.faults

    def check_provenance(self):
        text = self.plan.scenario_normalised.encode()
        self.equal(
            self.plan.provenance.scenario_hash,
            hashlib.sha256(text).hexdigest(),
            "provenance.scenario_hash",
        )

    def check_pools(self):
        seen = set()
        for i, pool in enumerate(self.plan.pools):
            where = f"pools[{i}]"
            self.expect(pool.replicas > 0, f"{where}.replicas", "there is none")
            self.equal(pool.gpus, gpus_rented(pool), f"{where}.gpus")
            self.expect(
                pool.available_gpus < 0 or pool.gpus <= pool.available_gpus,
                f"{where}.gpus",
                f"{pool.gpus} of {pool.available_gpus} that there are",
            )
            self.expect(
                (pool.site, pool.workload) not in seen,
                where,
                "a second pool of its workload at its site",
            )
            seen.add((pool.site, pool.workload))
            if pool.profile != "batch":
                self.check_capacity(pool, where)

    def check_capacity(self, pool, where):
        table = self.plan.tables[pool.table]
        for field in ("workload", "profile", "max_num_seqs", "wait_budget_ms"):
            self.equal(getattr(pool, field), getattr(table, field), f"{where}.{field}")
        for name in ("capacity", "degraded_capacity"):
            should = carried(list(table.replicas), list(getattr(table, name)), pool.replicas)
            claimed = getattr(pool, name)
            # A micro-request more or less: the writer may interpolate in doubles.
            self.expect(
                abs(claimed - should) <= 1,
                f"{where}.{name}",
                f"{claimed}, the table gives {should}",
            )

    def check_shares(self):
        shares = defaultdict(lambda: defaultdict(int))
        for assignment in self.plan.assignments:
            key = (assignment.demand, assignment.metro)
            for block, ppb in enumerate(assignment.share_ppb):
                shares[key][block] += ppb
        left_out = {(u.demand, u.metro): u.share_ppb for u in self.plan.unserved}
        for key in set(shares) | set(left_out):
            self.expect(key in self.populations, f"populations {key}", "not listed")
        for key, population in self.populations.items():
            for block in range(len(population.load)):
                total = shares[key][block] + left_out.get(key, 0)
                if total != WHOLE:
                    self.expect(
                        False,
                        f"assignments of {key[0]} in {key[1]}",
                        f"the shares of block {block} sum to {total}, not to {WHOLE}",
                    )
                    break

    def loads(self):
        """Load times 10^9 of each pool, by block."""
        loads = defaultdict(lambda: defaultdict(int))
        for assignment in self.plan.assignments:
            population = self.populations.get((assignment.demand, assignment.metro))
            if population is None:
                continue
            for block, ppb in enumerate(assignment.share_ppb):
                if block < len(population.load):
                    loads[assignment.pool][block] += population.load[block] * ppb
        return loads

    def check_loads(self):
        for index, blocks in self.loads().items():
            pool = self.plan.pools[index]
            if pool.profile == "batch":
                continue
            for block, load in blocks.items():
                self.expect(
                    load <= pool.capacity * WHOLE,
                    f"pools[{index}].capacity",
                    f"{pool.capacity} in block {block}, where {Fraction(load, WHOLE)} comes",
                )
            peak = max(blocks.values(), default=0) / WHOLE
            if pool.capacity > 0:
                self.expect(
                    abs(pool.peak_utilisation - peak / pool.capacity) < 1e-4,
                    f"pools[{index}].peak_utilisation",
                    f"{pool.peak_utilisation}, it should be {peak / pool.capacity}",
                )

    def check_assignments(self):
        reach = {}
        for t, table in enumerate(self.plan.tables):
            for entry in table.reach:
                reach[t, entry.demand, entry.country] = entry
        for i, assignment in enumerate(self.plan.assignments):
            where = f"assignments[{i}]"
            pool = self.plan.pools[assignment.pool]
            population = self.populations.get((assignment.demand, assignment.metro))
            if population is not None:
                self.equal(assignment.country, population.country, f"{where}.country")
                self.equal(pool.workload, population.workload, f"{where}.pool workload")
            self.expect(any(assignment.share_ppb), f"{where}.share_ppb", "all are zero")
            self.expect(
                assignment.rtt_basis in ("modelled", "measured", "satellite"),
                f"{where}.rtt_basis",
                f'"{assignment.rtt_basis}" is none',
            )
            if pool.profile == "batch":
                continue
            self.expect(
                assignment.rtt_us <= assignment.reach_us,
                f"{where}.rtt_us",
                f"{assignment.rtt_us} is beyond the reach of {assignment.reach_us}",
            )
            entry = reach.get((pool.table, assignment.demand, assignment.country))
            if entry is None:
                self.expect(False, f"{where}.reach_us", "its table has no reach for it")
                continue
            self.equal(assignment.reach_us, entry.rtt_us, f"{where}.reach_us")
            self.equal(
                assignment.degraded_reach_us,
                entry.degraded_rtt_us,
                f"{where}.degraded_reach_us",
            )

    def check_limits(self):
        limits = self.scenario.get("limits", {})
        most = limits.get("max_sites")
        if most is not None:
            self.expect(
                len(self.plan.sites) <= most, "sites", f"{len(self.plan.sites)} of {most}"
            )
        budget = limits.get("budget_usd_month")
        if budget is not None:
            self.expect(
                self.plan.totals.bill_usd_micro <= budget * 1e6,
                "totals.bill_usd_micro",
                f"beyond the budget of {budget}",
            )
        used = {pool.site for pool in self.plan.pools}
        pinned = {pin.get("site") for pin in self.scenario.get("sites", {}).get("pin", [])}
        for i, site in enumerate(self.plan.sites):
            self.expect(
                i in used or site.name in pinned, f"sites[{i}]", "open, but it has no pool"
            )

    def check_bill(self):
        totals = self.plan.totals
        billed = sum(line.usd_micro for line in self.plan.bill if line.in_bill)
        everything = sum(line.usd_micro for line in self.plan.bill if not line.reported)
        self.equal(totals.bill_usd_micro, billed, "totals.bill_usd_micro")
        self.equal(totals.objective_usd_micro, everything, "totals.objective_usd_micro")
        self.equal(totals.gpus, sum(p.gpus for p in self.plan.pools), "totals.gpus")
        self.equal(
            totals.replicas, sum(p.replicas for p in self.plan.pools), "totals.replicas"
        )
        self.expect(
            totals.bill_low_usd_micro <= billed <= totals.bill_high_usd_micro,
            "totals.bill_low_usd_micro",
            "the bill does not lie between its low and its high end",
        )
        months = self.scenario.get("horizon", {}).get("months")
        if months is not None:
            self.equal(totals.horizon_usd_micro, billed * months, "totals.horizon_usd_micro")
        self.check_bill_of_sites()
        spent = sum(share.usd_micro for share in self.plan.spend)
        for i, share in enumerate(self.plan.spend):
            self.expect(
                spent > 0 and abs(share.share - share.usd_micro / spent) < 1e-6,
                f"spend[{i}].share",
                f"{share.share} is not its part of the spend",
            )

    def check_bill_of_sites(self):
        rent = defaultdict(int)
        fixed = defaultdict(int)
        for line in self.plan.bill:
            if line.kind in ("gpu", "commitment"):
                rent[line.site] += line.usd_micro
            if line.kind == "fixed":
                fixed[line.site] += line.usd_micro
        for i, site in enumerate(self.plan.sites):
            pools = [pool for pool in self.plan.pools if pool.site == i]
            should = sum(p.gpus * p.bill_usd_micro_per_gpu_month for p in pools)
            # Batch jobs on hourly terms pay for the hours that they use.
            if not any(pool.profile == "batch" for pool in pools):
                self.equal(rent[site.name], should, f"bill, gpu lines of {site.name}")
            self.equal(
                fixed[site.name], site.fixed_usd_micro, f"bill, fixed lines of {site.name}"
            )

    def check_bound(self):
        bound = self.plan.bound.objective_usd_micro
        objective = self.plan.totals.objective_usd_micro
        self.expect(bound <= objective, "bound.objective_usd_micro", "above the plan's cost")
        if objective > 0:
            gap = (objective - bound) * 10**6 // objective
            self.expect(
                abs(self.plan.bound.gap_ppm - gap) <= 1,
                "bound.gap_ppm",
                f"{self.plan.bound.gap_ppm}, it should be {gap}",
            )
        certificate = self.plan.certificate
        for i, row in enumerate(certificate.rows):
            self.expect(row.multiplier >= 0, f"certificate.rows[{i}].multiplier", "negative")
            for index in row.demands:
                self.expect(
                    index < len(certificate.prices),
                    f"certificate.rows[{i}].demands",
                    "no such price",
                )
        for i, price in enumerate(certificate.prices):
            key = (price.demand, price.metro)
            # A batch workload has a price and no users: it names no metro.
            known = key in self.populations or not price.metro
            self.expect(known, f"certificate.prices[{i}]", "of nobody")
        self.check_dual_sum(bound)

    def check_dual_sum(self, bound):
        """No site adds to the bound more than its fixed cost, so prices and rows alone
        must reach it unless sites are pinned."""
        if self.scenario.get("sites", {}).get("pin") or not self.plan.certificate.prices:
            return
        total = sum(sum(price.usd_micro) for price in self.plan.certificate.prices)
        nano = sum(row.multiplier * row.need for row in self.plan.certificate.rows)
        self.expect(
            bound <= total + nano // 1000,
            "bound.objective_usd_micro",
            "above the sum of all prices and rows, which no bound exceeds",
        )

    def check_cells(self):
        cells = [(f"cells[{i}]", cell) for i, cell in enumerate(self.plan.cells)]
        for d, drill in enumerate(self.plan.drills):
            cells += [(f"drills[{d}].cells[{i}]", c) for i, c in enumerate(drill.cells)]
        for where, cell in cells:
            self.expect(
                0 <= cell.low <= cell.attained <= cell.high <= 1,
                f"{where}.attained",
                f"{cell.low} <= {cell.attained} <= {cell.high} does not hold",
            )
            _, percentile, _ = cell.objective.split("_")
            p = float(percentile[1:]) / 100
            should = "met" if cell.low >= p else "missed" if cell.high < p else "not shown"
            if cell.requests == 0 or cell.windows < FEWEST_WINDOWS:
                should = "not shown"
            self.equal(
                cell.requests, cell.kept + cell.late + cell.unfinished, f"{where}.requests"
            )
            self.equal(cell.mean_e2e_ns, sum(part.ns for part in cell.parts), f"{where}.parts")
            self.equal(cell.verdict, should, f"{where}.verdict")


def gpus_rented(pool):
    """Whole groups for all replicas together; gangs of batch jobs each have their own."""
    if pool.shape_gpus <= 0:
        return 0
    if pool.profile == "batch":
        return pool.replicas * -(-pool.tensor_parallel // pool.shape_gpus) * pool.shape_gpus
    need = pool.replicas * pool.tensor_parallel
    return -(-need // pool.shape_gpus) * pool.shape_gpus


def carried(support, capacity, n):
    """Load that n replicas carry: capacity / n is linear in n between the support,
    never falls, and stays beyond it."""
    if not support or n <= 0:
        return 0
    at = [capacity[0]]
    for i in range(1, len(support)):
        at.append(max(capacity[i], at[-1] * support[i] // support[i - 1]))
    if n <= support[0] or n >= support[-1]:
        end = 0 if n <= support[0] else -1
        return at[end] * n // support[end]
    i = next(k for k, x in enumerate(support) if x > n) - 1
    low, high = Fraction(at[i], support[i]), Fraction(at[i + 1], support[i + 1])
    share = Fraction(n - support[i], support[i + 1] - support[i])
    return int((low + (high - low) * share) * n)


def content_is_whole(content):
    claimed = content[-64:]
    return hashlib.sha256(content[:-HASH_FIELD]).hexdigest().encode() == claimed


def main(arguments):
    if len(arguments) != 3:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    sys.path.insert(0, arguments[1])
    from place import plan_pb2

    with open(arguments[2], "rb") as file:
        content = file.read()
    if not content_is_whole(content):
        print("content_hash: the file is cut or damaged")
        return 7
    plan = plan_pb2.Plan()
    plan.ParseFromString(content)
    faults = Checker(plan).run()
    for fault in faults:
        print(fault)
    if not faults:
        print(
            f"{len(plan.sites)} sites, {len(plan.pools)} pools, "
            f"{len(plan.assignments)} assignments: no fault"
        )
    return 7 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
