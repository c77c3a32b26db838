"""Tables of a record, by DuckDB: what pages show of it, so that records need not be kept."""
import json

import duckdb

COLUMNS = {"case": "VARCHAR", "backend": "VARCHAR", "status": "VARCHAR", "facts": "STRUCT(status VARCHAR, \"text\" VARCHAR)[]",
           "bytes": "STRUCT(moved BIGINT, bound BIGINT, best_known BIGINT)",
           "seconds": "STRUCT(compile DOUBLE, run DOUBLE[])", "bench": "STRUCT(nanoseconds DOUBLE[])",
           "environment": "JSON", "versions": "JSON",
           "judged": "VARCHAR[]", "run": "VARCHAR", "selection": "JSON", "backends": "VARCHAR[]", "unrun": "BIGINT"}  # of lines that are no records

# What a line says of its stratum: the op, and how many devices; of a reshard its mesh, shape and both layouts. Of records of one
# case the last holds; of repetitions all.
TABLES = r"""
create table lines as select *, row_number() over () as place
    from read_json({record}, format='newline_delimited', columns={columns});
create table cases as
select *, regexp_extract("case", '^on ([^: ]*)', 1) as mesh,
       regexp_extract("case", '^on [^:]*: (\w+)', 1) as op,
       list_product(list_transform(regexp_extract_all(regexp_extract("case", '^on ([^: ]*)', 1), '=(\d+)', 1),
                                   lambda n: n::double))::bigint as devices from lines where "case" is not null
qualify row_number() over (partition by "case", backend, bench is null order by place desc) = 1 or bench is not null
"""


def opened(record):
    """A database with the lines of a record, read once."""
    columns = "{" + ", ".join(f"'{name}': '{kind}'" for name, kind in COLUMNS.items()) + "}"
    db = duckdb.connect(config={"threads": 2})
    db.execute(TABLES.replace("{columns}", columns).replace("{record}", "'" + str(record).replace("'", "''") + "'"))
    return db


def rows(db, query):
    return db.execute(query).fetchall()


LESS = ("plan", "clones", "no trace", "in place")  # on which a pass may rest, the weakest first: plumb compare tells these apart
STATUS = "case " + " ".join(f"when status = 'pass' and list_contains(judged, '{less}') then 'pass ({less})'" for less in LESS) + " else status end"


def by_backend(db):
    """Of each backend its name, its versions, and (line, status and on what less a pass rests, bytes moved or None, what was said first)
    of its cases by their lines."""
    for backend, versions in rows(db, "select backend, arg_max(versions, place) from cases group by 1 order by 1"):
        found = db.execute(f"""select "case", {STATUS}, bytes.moved, facts[1].text from cases where backend = ? order by 1""", [backend])
        yield backend, json.loads(versions or "{}"), found.fetchall()


def runs(db):
    """Of each run the backends, what it selected in its own words, and how many cases it left, None where it was killed."""
    found = rows(db, """select run, any_value(backends) filter (backends is not null), any_value(selection) filter (selection is
        not null), any_value(unrun) from lines where "case" is null group by 1 order by 1""")
    return [{"backends": backends, "selected": json.loads(selection or "{}"), "unrun": unrun}
            for _, backends, selection, unrun in found]


def environment(db):
    found = rows(db, "select environment from cases where environment is not null order by place desc limit 1")
    return json.loads(found[0][0]) if found else {}


def told(db):
    """For night.json: by backend the statuses; by reason what is unsupported; of each stratum what it costs."""
    statuses = {}
    for backend, status, n in rows(db, 'select backend, status, count(distinct "case") from cases group by all order by all'):
        statuses.setdefault(backend, {})[status] = n
    unsupported = rows(db, "select backend, facts[1].text, count(*) from cases where status = 'unsupported' "
                            "group by all order by 3 desc, 1, 2")
    said = environment(db)
    machine = f"{said['cpu']}, {said['cores']} cores" if "cpu" in said else ""
    names = ("backend", "op", "devices", "cases", "bytes", "compile", "run", "bench")
    return {"statuses": statuses, "machine": machine,
            "unsupported": [{"backend": b, "why": why or "no reason given", "cases": n} for b, why, n in unsupported],
            "costs": [dict(zip(names, one)) for one in rows(db, COSTS)]}


def not_started(db):
    """(backend, what was said) of each that never came to say hello."""
    return rows(db, """select backend, any_value(facts[1].text) from cases group by 1
        having bool_and(status in ('crashed', 'hung', 'malformed') and
                        regexp_matches(facts[1].text, '(\\(in start\\)|seconds of start)$')) order by 1""")


def reshards(db):
    """(backend, line, status, bytes over the bound or None) of each."""
    return rows(db, """select backend, "case", status, case when bytes.bound > 0 then bytes.moved / bytes.bound end from cases
        where op = 'reshard'""")


NOTHING = {"statuses": {}, "unsupported": [], "costs": [], "machine": ""}  # told of a record that is not there

# Geometric means of a stratum: never of a case alone. Bytes over the bound where there is one above 0.
COSTS = """
    select backend, op, devices, count(*) as n,
           exp(avg(ln(bytes.moved / coalesce(bytes.bound, bytes.best_known)))
               filter (bytes.moved > 0 and coalesce(bytes.bound, bytes.best_known) > 0)) as bytes,
           exp(avg(ln(seconds.compile)) filter (seconds.compile > 0)) as compile,
           exp(avg(ln(list_aggregate(seconds.run, 'median'))) filter (list_aggregate(seconds.run, 'median') > 0)) as run,
           exp(avg(ln(list_aggregate(bench.nanoseconds, 'median') / 1e9))
               filter (list_aggregate(bench.nanoseconds, 'median') > 0)) as bench
    from cases where status = 'pass' group by 1, 2, 3 having count(*) > 1 order by 1, 2, 3"""
