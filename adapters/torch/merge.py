"""The ranks' own events as one trace. An event of a group happens when all of its members come to it; those
that happen together, of one kind and as many bytes, are one line with several groups."""


def same(event):
    return event["kind"], tuple(event["group"]), event.get("op", ""), event.get("dtype", "")


def merged(events):
    """events[rank] in order -> the trace. An event that some member of its group never comes to is kept, noted; one
    whose group was not found is an error: nobody knows what it moved."""
    for event in (e for own in events for e in own):
        if not event["group"]:
            raise ValueError(f"a collective without a group: {event.get('note') or event['kind']}")
    at, trace = [0] * len(events), []
    next_of = lambda r: events[r][at[r]] if at[r] < len(events[r]) else None
    while any(next_of(r) for r in range(len(events))):
        ready = {}
        for r in range(len(events)):
            event = next_of(r)
            if event and all(next_of(m) and same(next_of(m)) == same(event) for m in event["group"]):
                ready[same(event)] = event
        stuck = not ready
        if stuck:
            event = next(e for e in map(next_of, range(len(events))) if e)
            ready = {same(event): {**event, "note": "not of all its members"}}
        for key in ready:
            for r in range(len(events)):
                if next_of(r) and same(next_of(r)) == key:
                    at[r] += 1
        trace += together(list(ready.values()))
    return trace


def together(events):
    """Events of one moment, each kind and size a line."""
    lines = {}
    for event in events:
        key = tuple(str(event.get(k)) for k in ("kind", "in", "out", "op", "dtype", "note"))
        line = lines.setdefault(key, {**{k: v for k, v in event.items() if k != "group"}, "groups": []})
        line["groups"].append(event["group"])
    return list(lines.values())
