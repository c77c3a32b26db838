"""Tables of a record, by DuckDB: what pages show of it, so that records need not be kept."""
import re

import duckdb

COLUMNS = {"case": "VARCHAR", "backend": "VARCHAR", "status": "VARCHAR", "facts": "STRUCT(status VARCHAR, \"text\" VARCHAR)[]",
           "bytes": "STRUCT(moved BIGINT, bound BIGINT, best_known BIGINT)",
           "seconds": "STRUCT(compile DOUBLE, run DOUBLE[])", "bench": "STRUCT(nanoseconds DOUBLE[])",
           "environment": "STRUCT(cpu VARCHAR, cores BIGINT)"}

# What a line says of its stratum: the op, and how many devices; of a reshard its mesh, shape and both layouts.
VIEW = r"""
create view cases as
with lines as (select *, row_number() over () as place from read_json({record}, format='newline_delimited', columns={columns})
               where "case" is not null),
last as (select * exclude (place) from lines
         qualify row_number() over (partition by "case", backend, bench is null order by place desc) = 1 or bench is not null)
select *, regexp_extract("case", '^on ([^: ]*)', 1) as mesh,
       regexp_extract("case", '^on [^:]*: (\w+)', 1) as op,
       list_product(list_transform(regexp_extract_all(regexp_extract("case", '^on ([^: ]*)', 1), '=(\d+)', 1),
                                   lambda n: n::double))::bigint as devices from last
"""


def connected(record):
    columns = "{" + ", ".join(f"'{name}': '{kind}'" for name, kind in COLUMNS.items()) + "}"
    connection = duckdb.connect(config={"threads": 2})
    connection.execute(VIEW.replace("{columns}", columns).replace("{record}", "'" + str(record).replace("'", "''") + "'"))
    return connection


def of_record(record):
    """For night.json: by backend the statuses; by reason what is unsupported; of each stratum what it costs."""
    if not record.exists():
        return {"statuses": {}, "unsupported": {}, "costs": [], "machine": ""}
    with connected(record) as db:
        statuses = {}
        for backend, status, n in db.execute("select backend, status, count(distinct \"case\") from cases group by all order by all").fetchall():
            statuses.setdefault(backend, {})[status] = n
        unsupported = db.execute("select backend, facts[1].text, count(*) from cases where status = 'unsupported' "
                                 "group by all order by 3 desc, 1, 2").fetchall()
        machine = db.execute("select environment.cpu || ', ' || environment.cores || ' cores' from cases where environment.cpu "
                             "is not null limit 1").fetchone()
        # Geometric means of a stratum: never of a case alone. Bytes over the bound where there is one above 0.
        costs = db.execute("""
            select backend, op, devices, count(*) as n,
                   exp(avg(ln(bytes.moved / coalesce(bytes.bound, bytes.best_known)))
                       filter (bytes.moved > 0 and coalesce(bytes.bound, bytes.best_known) > 0)) as bytes,
                   exp(avg(ln(seconds.compile)) filter (seconds.compile > 0)) as compile,
                   exp(avg(ln(list_aggregate(seconds.run, 'median'))) filter (list_aggregate(seconds.run, 'median') > 0)) as run,
                   exp(avg(ln(list_aggregate(bench.nanoseconds, 'median') / 1e9))
                       filter (list_aggregate(bench.nanoseconds, 'median') > 0)) as bench
            from cases where status = 'pass' group by 1, 2, 3 having count(*) > 1 order by 1, 2, 3""").fetchall()
    names = ("backend", "op", "devices", "cases", "bytes", "compile", "run", "bench")
    return {"statuses": statuses, "machine": machine[0] if machine else "",
            "unsupported": [{"backend": b, "why": why or "no reason given", "cases": n} for b, why, n in unsupported],
            "costs": [dict(zip(names, one)) for one in costs]}


LAYOUT = re.compile(r"\[([^\]]*)\](\S*)")


def layout(spec):
    """f32[8@x,4]+y as [x,]+y: where axes lie, without sizes and dtype."""
    found = LAYOUT.search(spec)
    dims = ",".join(dim.partition("@")[2] for dim in found.group(1).split(","))
    return f"[{dims}]{found.group(2)}"


def squares(record):
    """Reshards of one backend, mesh, dtype and shape, each layout to each: (names, layouts from, layouts to, cells), a cell
    (row, column, status, bytes over the bound, line)."""
    with connected(record) as db:
        rows = db.execute(r"""select backend, mesh, regexp_replace(regexp_extract("case", 'reshard (\S+) ->', 1), '@[^,\]]*|\+.*', '', 'g'),
            regexp_extract("case", 'reshard (\S+) ->', 1), regexp_extract("case", '-> (\S+)$', 1), status,
            case when bytes.bound > 0 then bytes.moved / bytes.bound end, "case"
            from cases where regexp_matches("case", '^on \S+: reshard \S+ -> \S+$')""").fetchall()
    found = {}
    for backend, mesh, shape, source, target, *cell in rows:
        found.setdefault((backend, mesh, shape), []).append((layout(source), layout(target), *cell))
    for key, cells in sorted(found.items()):
        sources, targets = (list(dict.fromkeys(sorted(cell[side] for cell in cells))) for side in (0, 1))
        if min(len(sources), len(targets)) < 4:
            continue
        rows_of, columns_of = ({one: n for n, one in enumerate(side)} for side in (sources, targets))
        yield key, sources, targets, [(rows_of[a], columns_of[b], *rest) for a, b, *rest in cells]
