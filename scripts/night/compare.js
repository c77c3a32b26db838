"use strict";
// Any two nights against each other, from the files that cases.py writes. What a status becomes by another is a table of plumb
// compare's own; here cases are only joined and counted.
const nights = {}, lists = {};
function night(name, row, said) { (nights[name] ??= {})[row] = said; }
function lines(name, list) { lists[name] = list; }

function loaded(file) {
  return new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = file, script.onload = done, script.onerror = () => failed(new Error(`${file} is not there`));
    document.head.append(script);
  });
}

async function linesOf(of) {
  if (!lists[of.lines]) await loaded(`lines/${of.lines}.js`);
  return lists[of.lines];
}

// Of each case of either, by the lines of the new night and then of those that it lacks: its places, -1 where it has none.
async function joined(was, is) {
  if (was.lines === is.lines) return Array.from(is.statuses, (_, at) => [at, at]);
  const place = new Map((await linesOf(was)).map((line, at) => [line, at]));
  const pairs = (await linesOf(is)).map((line, at) => {
    const before = place.get(line) ?? -1;
    place.delete(line);
    return [before, at];
  });
  return [...pairs, ...[...place.values()].map(at => [at, -1])];
}

// Why a case that the new night lacks is absent: the night came to its end and selected in the same words, or not.
function absent(was, is, backend) {
  const words = said => JSON.stringify(said.runs.filter(run => run.backends.includes(said.backends[backend].on))
    .map(run => JSON.stringify(run.selected)).sort());
  if (is.runs.some(run => run.unrun !== 0)) return "not compared: the new night did not come to it";
  return words(was) === words(is) ? "vanished" : "not compared: the new night selected in other words";
}

function statusOf(said, of, at) { return at < 0 ? "absent" : Object.keys(said.becomes)[of.statuses.charCodeAt(at) - 97]; }

function changeOf(was, is, before, now, bytes) {
  if (before === "absent") return "new";
  const change = (is.becomes[before] ?? was.becomes[before])[now];  // an older night knows fewer
  if (change !== "same" || bytes.some(moved => moved === null || moved < 0)) return change;
  return bytes[1] > bytes[0] ? "more bytes" : bytes[1] < bytes[0] ? "fewer bytes" : "same";
}

// Why cases are unsupported, by their places; nothing of a night that does not say.
function reasons(said, of) {
  if (!said.reasons) return new Map();
  const unsupported = Array.from(of.statuses, (_, at) => at).filter(at => statusOf(said, of, at) === "unsupported");
  return new Map(unsupported.map((at, n) => [at, said.reasons[of.unsupported[n]]]));
}

// {table: {"was|is": cases}, changes: {change: cases}, kinds: [{change, backend, why, layouts, places}]}: by cause, as the page of
// last night
async function compared(was, is) {
  const all = {table: {}, changes: {}, kinds: []}, kindOf = {};
  const count = (of, name) => { of[name] = (of[name] ?? 0) + 1; };
  for (const backend of Object.keys(is.backends).filter(name => was.backends[name])) {
    const [a, b] = [was.backends[backend], is.backends[backend]], [kindsA, kindsB] = [new Map(a.kinds), new Map(b.kinds)];
    const gone = absent(was, is, backend), why = {"coverage lost": reasons(is, b), "coverage gained": reasons(was, a)};
    for (const [from, to] of await joined(a, b)) {
      const [before, now] = [statusOf(was, a, from), statusOf(is, b, to)];
      const change = to < 0 ? gone : changeOf(was, is, before, now, [a.moved[from], b.moved[to]]);
      if (from >= 0 && to >= 0) count(all.table, `${before}|${now}`);
      count(all.changes, change);
      if (change === "same" || change.startsWith("not compared")) continue;
      const kind = kindsB.has(to) ? is.kinds[kindsB.get(to)] : was.kinds[kindsA.get(from)];
      const less = change === "coverage lost" ? now : before;  // of passes, "pass (plan)"
      const cause = kind?.why ?? why[change]?.get(change === "coverage lost" ? to : from) ?? (less.startsWith("pass (") ? less : "");
      const key = JSON.stringify([change, backend, cause]);
      if (!kindOf[key]) all.kinds.push(kindOf[key] = {change, backend, why: cause, again: kindsB.has(to) ? kind.again : "",
                                                        of: to < 0 ? a : b, layouts: new Set(), places: []});
      kindOf[key].places.push(to < 0 ? from : to);
      kindOf[key].layouts.add(kind?.layouts ?? "");
    }
  }
  all.kinds.sort((one, other) => other.places.length - one.places.length);
  return all;
}

function differing(was, is) {
  const all = [], add = (what, a, b) => { if (a !== b) all.push(`${what}: ${a ?? "none"} → ${b ?? "none"}`); };
  const flat = (said, prefix) => Object.entries(said ?? {}).flatMap(([key, value]) =>
    value && typeof value === "object" ? flat(value, `${prefix}${key} `) : [[prefix + key, String(value)]]);
  const both = (what, a, b) => {
    const [from, to] = [new Map(flat(a, "")), new Map(flat(b, ""))];
    for (const key of new Set([...from.keys(), ...to.keys()])) add(`${what}${key}`, from.get(key), to.get(key));
  };
  both("", was.environment, is.environment);
  for (const name of Object.keys(is.backends)) if (was.backends[name]) both(`${name}: `, was.backends[name].versions, is.backends[name].versions);
  return all;
}

function element(name, text, ...children) {
  const made = document.createElement(name);
  made.textContent = text, made.append(...children);
  return made;
}

function table(head, rows, is) {
  const cell = (name, one, at) => {
    const made = element(name, one instanceof Node ? "" : String(one), ...(one instanceof Node ? [one] : []));
    if (typeof one === "number" || !is && at) made.className = "n";
    made.dataset.head = head[at];
    return made;
  };
  const row = (name, cells) => element("tr", "", ...cells.map((one, at) => cell(name, one, at)));
  const made = element("table", "", row("th", head), ...rows.map(cells => row("td", cells)));
  made.className = is;
  const wide = element("div", "", made);
  wide.className = "wide";
  return wide;
}

function matrix(of) {
  const [was, is] = [0, 1].map(side => [...new Set(Object.keys(of.table).map(key => key.split("|")[side]))].sort());
  return table(["was \\ is", ...is], was.map(before => [before, ...is.map(now => of.table[`${before}|${now}`] ?? "")]), "");
}

async function casesOf(kind) {
  const list = await linesOf(kind.of), most = 500, found = kind.places.map(at => list[at]);
  found.sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
  const shown = found.slice(0, most).join("\n") + (found.length > most ? `\nand ${found.length - most} more` : "");
  return element("details", "", element("summary", found[0]), element("pre", (kind.again ? `${kind.again}\n\n` : "") + shown));
}

async function shown(names, into) {
  into.replaceChildren(element("p", "reading"));
  const parts = [], rows = NIGHTS[names[1]].filter(row => NIGHTS[names[0]].includes(row));
  if (!rows.length) parts.push(element("p", "no configuration is in both"));
  for (const row of rows) {
    for (const name of names) if (!nights[name]?.[row]) await loaded(`nights/${name}/${row}.js`);
    const [was, is] = names.map(name => nights[name][row]), of = await compared(was, is);
    parts.push(element("h2", `${row}: ${names.join(" | ")}`), matrix(of));
    parts.push(element("p", Object.entries(of.changes).sort((a, b) => b[1] - a[1]).map(([change, n]) => `${n} ${change}`).join(", ")));
    const other = differing(was, is);
    parts.push(element("h3", "What differs in versions and environments"),
               other.length ? element("ul", "", ...other.map(one => element("li", one))) : element("p", "nothing"));
    parts.push(element("h3", "What changed, by kind"), of.kinds.length
      ? table(["change", "backend", "cause", "cases", "layouts", "the smallest, and all"], await Promise.all(of.kinds.map(
          async k => [k.change, k.backend, k.why, k.places.length, [...k.layouts].filter(Boolean).length || "", await casesOf(k)])), "rows")
      : element("p", "nothing"));
  }
  into.replaceChildren(...parts);
}

async function chosen() {
  const [from, to] = ["from", "to"].map(id => document.getElementById(id)), into = document.getElementById("chosen");
  const names = decodeURIComponent(location.hash.slice(1)).split("|");
  const known = names.length === 2 && names.every(name => NIGHTS[name]);
  document.getElementById("last").hidden = known, into.hidden = !known;
  if (!known) return;
  [from.value, to.value] = names;
  try {
    await shown(names, into);
  } catch (error) {
    into.replaceChildren(element("p", error.message));
  }
  into.dataset.of = names.join("|");
}

window.addEventListener("DOMContentLoaded", () => {
  for (const id of ["from", "to"]) document.getElementById(id).addEventListener("change", () => {
    location.hash = ["from", "to"].map(side => encodeURIComponent(document.getElementById(side).value)).join("|");
  });
  chosen();
});
window.addEventListener("hashchange", chosen);
