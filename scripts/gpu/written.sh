# What is written: a page, the cards to drain, figures, and an archive of records.

# What is failed, and is therefore to be done: "severity<tab>why" of a step's state. A step of all cards names none of them.
severity_of() {
  case $1:$2 in
    all:hung* | card:hung* | all:crashed* | card:crashed* | card:'CUDA does not start'*) printf 'reset' ;;
    all:'not timed'*'  hung:'* | all:'not timed'*'  crashed:'*) printf 'reset' ;;
    all:'not timed'*'  wrong:'* | all:'not timed'*'  diverged:'* | all:wrong* | all:diverged* | all:leaked* | all:unstable*) printf 'isolate' ;;
    all:* | card:reneged*) printf 'watch' ;;
    *) printf 'isolate' ;;
  esac
}
failed_of_all() {
  local file word why step severity
  for file in "$work"/all/*.state; do
    [[ -f $file ]] || continue
    IFS="$tab" read -r word why <"$file"
    [[ $word == failed ]] || continue
    step=${file##*/} step=${step%.state} severity=$(severity_of all "$why")
    [[ $severity != watch ]] || why+=" (no wrong bits and none that hangs: this drains no node)"
    [[ $severity == watch ]] || why+=" (of all its GPUs; which of them is not known)"
    printf '%s\t-\t-\t-\t%s\t%s: %s\n' "$host" "$severity" "$step" "$why"
  done
}

# One line a card and reason: "host uuid serial model severity why"; a card of which nothing is bad has one that says ok.
write_cards() {
  local uuid serial model driver place file step word why seen
  : >"$work/figures.tsv"
  while IFS="$tab" read -r uuid serial model driver; do
    place=$work/$(place_of "$uuid")
    [[ -f $place/bench.out ]] && medians "$place/bench.out" |
      awk -v OFS="$tab" -v card="$host$tab$uuid$tab$serial$tab$model" '{ print card, $0 }' >>"$work/figures.tsv"
    for file in "$place"/*.state; do
      [[ -f $file ]] || continue
      IFS="$tab" read -r word why <"$file"
      step=${file##*/} step=${step%.state}
      [[ $word == failed ]] || continue
      printf '%s\t%s\t%s: %s\n' "$uuid" "$(severity_of card "$why")" "$step" "$why"
    done
  done <"$work/cards" >"$work/bad"
  cat "$work/health" >>"$work/bad"
  figures_of_all
  slow_ones "${all_figures[@]}" | cut -f 2,5- >>"$work/bad"
  while IFS="$tab" read -r uuid serial model driver; do
    if ! grep -F "$uuid$tab" "$work/bad" | sort -u; then printf '%s\tok\t\n' "$uuid"; fi |
      awk -v OFS="$tab" -F "$tab" -v head="$host$tab$uuid$tab$serial$tab$model" '{ print head, $2, $3 }'
  done <"$work/cards" >"$work/cards.tsv"
  failed_of_all >>"$work/cards.tsv"
  seen=$(wc -l <"$work/cards")
  ((seen >= ${awaited:-0})) || printf '%s\t-\t-\t-\treset\t%s of %s GPUs are seen\n' "$host" "$seen" "$awaited" >>"$work/cards.tsv"
}

# Of such lines those that drain a card, or a node that lacks some, worst first.
drain_of() {
  local severity
  for severity in isolate reset watch; do
    awk -F "$tab" -v severity="$severity" '$5 == severity && $2 == "-" { printf "%-8s %s: %s\n", severity, $1, $6 }
      $5 == severity && $2 != "-" { printf "%-8s %s  serial %s  %s  %s: %s\n", severity, $1, $3, $4, $2, $6 }' "$1"
  done
}

# The exit code that such lines ask for.
code_of() {
  if cut -f 5 "$1" | grep -qx isolate; then return 1; elif cut -f 5 "$1" | grep -qx reset; then return 5; fi
}

states() {  # of all steps that are asked for: place, step, word, why
  local step uuid
  for step in "${steps[@]}"; do
    while IFS="$tab" read -r uuid _; do
      of_node "$step" && uuid=all
      printf '%s\t%s\t%s\n' "$(place_of "$uuid")" "$step" "$(cat "$work/$(place_of "$uuid")/$step.state" 2>/dev/null || printf 'left\tnot begun')"
      [[ $uuid == all ]] && break
    done <"$work/cards"
  done
}

# Whether a step judged each card that was asked about; what is here, as doctor says it, judges none.
all_judged() {
  awk -F "$tab" '
    $2 != "doctor" { asked[$1]; if ($3 == "pass" || $3 == "told") { shown[$1]; any = 1 } }
    $3 == "unshown" && $2 ~ /^(proofs|must-pass|agree|bench|faults)$/ { missing = 1 }
    END { for (place in asked) if (place != "all" && !(place in shown)) missing = 1; exit missing || !any }' "$work/states"
}

verdict() {
  states >"$work/states"
  code_of "$work/cards.tsv"
  local code=$? more=
  ! cut -f 3 "$work/states" | grep -qx left || more="; not over: run it again"
  if [[ $code != 0 ]]; then echo "FAILED: GPUs to drain$more"; return $code; fi
  if cut -f 3 "$work/states" | grep -qx failed; then echo "FAILED: a step that drains no GPU$more"; return 1; fi
  if [[ -f $work/full ]]; then echo "NOT OVER: what was to be recorded could not be written"; return 3; fi
  if cut -f 3 "$work/states" | grep -qx left; then echo "NOT OVER: run it again"; return 4; fi
  if ! all_judged; then
    echo "NOTHING SHOWN: not every card was judged"
    return 2
  fi
  local who= passed missing
  [[ $backend != *device=host* ]] || who=" of this processor, no GPU was checked"
  [[ -z $sample ]] || who+=" by a sample of $sample cases"
  passed=$(awk -F "$tab" '$3 != "unshown" && !said[$2]++ { print $2 }' "$work/states" | paste -sd ' ')
  missing=$(awk -F "$tab" '$3 == "unshown" && !said[$2]++ { print $2 }' "$work/states" | paste -sd ' ')
  if [[ $passed == "${all_steps[*]}" ]]; then echo "PASS$who"; else echo "PASS$who: $passed; NOT SHOWN: ${missing:-not all steps were asked for}"; fi
}

write_page() {
  local said
  said=$(verdict)
  printf 'gpu-check of %s, %s, with plumbline %s\n\n%s\n' "$host" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" \
    "$(cat "$here/revision" 2>/dev/null || echo '(sources)')" "$said"
  printf '\nbackend  %s\n\ncards: UUID, serial, model, driver\n' "$backend"
  sed 's/^/    /' "$work/cards"
  printf '\nsteps\n'
  awk -F "$tab" '{ printf "    %-12s %-10s %-8s %s\n", $2, $1, $3 == "unshown" ? "NO PASS" : $3, ($3 == "unshown" ? "not shown: " : "") $4 }' "$work/states"
  printf '\nGPUs to drain, or to watch\n'
  drain_of "$work/cards.tsv" | sed 's/^/    /' | grep . || echo '    none'
  printf '\nECC errors, remapped rows: UUID, uncorrected, corrected, since the driver was loaded\n'
  ask ecc.errors.uncorrected.volatile.total,ecc.errors.corrected.volatile.total | sed 's/^/    /' | grep . || echo '    not said: no nvidia-smi, or it does not know'
  printf '\nwhile steps ran: UUID, hottest (C), lowest and highest clock (MHz), reasons that held clocks back, samples\n'
  awk -F "$tab" 'NF >= 4 { u = $1; if (!n[u]++ || $3 < low[u]) low[u] = $3; if ($2 > hot[u]) hot[u] = $2; if ($3 > high[u]) high[u] = $3; why[u] = why[u] (index(why[u], $4) ? "" : " " $4) }
    END { for (u in n) printf "    %s  %s  %s  %s %s  %s\n", u, hot[u], low[u], high[u], why[u], n[u] }' "$work/samples" 2>/dev/null | grep . ||
    echo '    not said: no nvidia-smi, or it does not know'
}

# Records and words of plumb in one archive, in parts where it is large; pages beside it. Replaced whole or not at all.
pack() {
  local tool=gzip name=records.tar.gz
  command -v xz >/dev/null && tool=xz name=records.tar.xz
  write_cards
  rm -rf "$out/new"
  mkdir "$out/new" && write_page >"$out/new/page.txt" && drain_of "$work/cards.tsv" >"$out/new/drain.txt" &&
    cp "$work/cards.tsv" "$work/figures.tsv" "$out/new/" &&
    { tar -C "$work" -cf - . || (($? == 1)); } | $tool -c >"$out/new/$name" || { rm -rf "$out/new"; touch "$work/full" 2>/dev/null; return 1; }
  if (($(wc -c <"$out/new/$name") > 16000000)); then
    (cd "$out/new" && split -b 16000000 "$name" "$name." && rm "$name")
    (($(ls "$out/new" | wc -l) <= 8)) || printf 'the records are larger than four files of 16 MB\n' >>"$out/new/page.txt"
  fi
  rm -f "$out"/records.tar.*
  mv "$out/new"/* "$out/" && rmdir "$out/new"
}

unpack() {
  local part
  mkdir -p "$work" || fail 3 "cannot write to $out"
  for part in "$out"/records.tar.gz* "$out"/records.tar.xz*; do
    [[ -f $part ]] || continue
    case $part in
      *.gz*) cat "$out"/records.tar.gz* | gzip -dc ;;
      *.xz*) cat "$out"/records.tar.xz* | xz -dc ;;
    esac | tar -C "$work" -xf - || { rm -rf "$work"; fail 3 "$part cannot be unpacked"; }
    break
  done
  rm -f "$work/full"
}

# Where a card's records lie: those of a card are its own, unless --continue lets the first of a model go on with another's.
place_of() {
  if [[ $1 == all ]]; then echo all; return; fi
  awk -F "$tab" -v uuid="$1" -v by="$continued" '{ if ($1 == uuid) { print by ? "card" NR : $1; exit } }' "$work/cards"
}
