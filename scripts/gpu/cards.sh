# The cards of this machine, and what their driver says of them; where it has no nvidia-smi, less.

smi() { [[ -z $smi_hangs ]] && command -v nvidia-smi >/dev/null && timeout -k 1 10 nvidia-smi "$@" 2>/dev/null; }

# One that does not answer is asked once.
try_smi() {
  smi_hangs=
  smi -L >/dev/null
  case $? in 124 | 137) smi_hangs=1 ;; esac
}

# Fields of all cards, "UUID<tab>value<tab>value"; nothing where this driver's tool does not know one of them.
ask() { smi --query-gpu="uuid,$1" --format=csv,noheader,nounits | grep '^GPU-' | sed "s/, */$tab/g"; }

# "UUID<tab>serial<tab>model<tab>driver" of each card, by the tool, else by the files of the driver itself.
cards() {
  local told folder=${GPU_CHECK_DRIVER:-/proc/driver/nvidia} file
  told=$(ask serial,name,driver_version)
  if [[ -n $told ]]; then
    printf '%s\n' "$told"
    return
  fi
  for file in "$folder"/gpus/*/information; do
    [[ -f $file ]] || continue
    awk -F ':[ \t]+' -v driver="$(grep -oE '[0-9]+\.[0-9.]+' "$folder/version" 2>/dev/null | head -n 1)" '
      /^Model/ { model = $2 } /^GPU UUID/ { uuid = $2 }
      END { printf "%s\tunknown\t%s\t%s\n", uuid, model, driver }' "$file"
  done
}

# All that health asks in one call, where this driver's tool knows each field by one of its names: a prolog waits for every call.
ask_all() {
  local names
  for names in clocks_event_reasons clocks_throttle_reasons; do
    asked=(ecc.errors.uncorrected.volatile.total remapped_rows.failure remapped_rows.pending retired_pages.pending serial
      "$names".hw_slowdown "$names".hw_thermal_slowdown "$names".hw_power_brake_slowdown)
    answered=$(ask "$(IFS=,; printf '%s' "${asked[*]}")") && return
  done
  asked=() answered=
}

# "UUID<tab>value" of a field, of that call or of its own.
told_of() {
  local n
  [[ -n $answered ]] || { ask "$1"; return; }
  for n in "${!asked[@]}"; do
    [[ ${asked[n]} != "$1" ]] || { cut -f "1,$((n + 2))" <<<"$answered"; return; }
  done
  return 1
}

# severity<tab>why, for each card of which the driver says something bad: "UUID<tab>severity<tab>why".
health() {
  local field asked answered
  ask_all
  [[ -z $smi_hangs ]] || awk -F "$tab" '{ print $1 "\treset\tnvidia-smi does not answer" }' "$1"
  told_of ecc.errors.uncorrected.volatile.total | awk -F "$tab" '$2 + 0 > 0 { print $1 "\tisolate\t" $2 " uncorrectable ECC errors" }'
  told_of remapped_rows.failure | awk -F "$tab" '$2 == "Yes" || $2 + 0 > 0 { print $1 "\tisolate\ta row of memory could not be remapped" }'
  told_of remapped_rows.pending | awk -F "$tab" '$2 == "Yes" || $2 + 0 > 0 { print $1 "\treset\trows of memory wait to be remapped" }'
  told_of retired_pages.pending | awk -F "$tab" '$2 == "Yes" { print $1 "\treset\tpages of memory wait to be retired" }'
  for field in hw_slowdown hw_thermal_slowdown hw_power_brake_slowdown; do
    { told_of "clocks_event_reasons.$field" || told_of "clocks_throttle_reasons.$field"; } |
      awk -F "$tab" -v why="its clocks are held back: $field" '$2 == "Active" { print $1 "\twatch\t" why }'
  done
  told_of serial | awk -F "$tab" '/requires reset|Unknown Error|ERR!|GPU is lost/ { print $1 "\treset\tnvidia-smi says of it: " $2 }'
}

# Temperature, clock and whether it is held back, while steps run.
sample() {
  while :; do
    ask "temperature.gpu,clocks.sm,clocks_event_reasons.active" || ask "temperature.gpu,clocks.sm,clocks_throttle_reasons.active"
    sleep 5
  done
}
