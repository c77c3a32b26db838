# A step on a card: what plumb is asked, and what its words mean. A state is pass, failed, told (findings of a framework, which are
# no card's), unshown (nothing could be judged) or left (to go on with).

must_pass=(smoke reshard matmul grouped quantize scale incidents dtensor)
forms=(in-place misaligned graph registered two grouped)

# So many cases of a step, or as many as were asked for.
some() { if ((${#sampled[@]})); then words+=("${sampled[@]}"); else words+=(--sample "$1" --seed 1); fi; }

# What N ranks do together: sums rounded by NCCL, each collective, and shares of several sizes.
cases_of() {
  local n=$1 d
  for d in f32 bf16; do
    printf '%s\n' "on x=$n: reshard $d[65536]+x -> $d[65536]" "on x=$n: reshard $d[$((1024 * n))]+x -> $d[$((1024 * n))@x]" "on x=$n: reshard $d[$((1024 * n))@x] -> $d[$((1024 * n))]"
  done
  printf '%s\n' "on x=$n: reshard bf16[65536]+x -> bf16[65536] fill=normal" "on x=$n: reshard s32[4096]+max(x) -> s32[4096]" \
    "on x=$n: reshard f32[$((64 * n))@x,$((8 * n))] -> f32[$((64 * n)),$((8 * n))@x]" "on x=$n: reshard f32[$((64 * n + 1))]+x -> f32[$((64 * n + 1))@x]"
}

# Products as frameworks have them: rows split, and what is summed over.
products_of() {
  local n=$1 d
  for d in f32 bf16 f16; do
    printf '%s\n' "on x=$n: einsum mk,kn->mn $d[$((64 * n))@x,256] $d[256,128] -> $d[$((64 * n))@x,128]" "on x=$n: einsum mk,kn->mn $d[64,$((256 * n))@x] $d[$((256 * n))@x,128] -> $d[64,128]" \
      "on x=$n: einsum mk,kn->mn $d[$((64 * n))@x,256] $d[256,128] -> $d[$((64 * n))@x,128] fill=normal"
  done
}

# The backend with more options: a row's name takes them after commas.
with() { printf '%s,%s' "$backend" "$1"; }

has_backend() { "$plumb" backends 2>/dev/null | awk -v name="$1" '($1 == name || index($1, name "@") == 1) && $2 == "yes" { here = 1 } END { exit !here }'; }

# The words after `plumb` for a step; nothing where there is nothing to run, and why stands in $why.
words_of() {
  local plan order count more
  count=$(wc -l <"$work/cards")
  why=
  case $1 in
    proofs)
      words=(run --in-place --suite smoke --suite reshard --suite matmul --suite grouped --backend "$backend")
      some 400
      ;;
    must-pass)
      words=(run --backend "$backend")
      for suite in "${must_pass[@]}"; do words+=(--suite "$suite"); done
      ;;
    products) words=(run --suite matmul --suite grouped --backend "$(with products=cublaslt)") ;;
    nccl-*)
      has_backend nccl || { why="this bundle has no backend nccl that can run here"; return 1; }
      [[ $1 != nccl-bench || $count != 1 ]] || { why="one GPU: there is nobody to call"; return 1; }
      nccl_words "$1" "$count"
      ;;
    agree)
      words=(run --suite agree --reruns 1)
      for plan in direct calls; do for order in direct ring tree; do words+=(--backend "$(with "plan=$plan,order=$order")"); done; done
      ;;
    bench)
      words=(bench --budget 0.5 --suite bench-matmul --suite bench-grouped --suite bench-collectives --suite bench-reshard --backend "$backend"
        --backend "$(with products=cublaslt)")
      # What fills a card.
      [[ $backend == *device=host* ]] || words+=('on x=4: reshard f32[67108864]+x -> f32[67108864]' 'on x=4: reshard f32[67108864@x] -> f32[67108864]'
        'on x=1: einsum mk,kn->mn bf16[4096,4096] bf16[4096,4096] -> f32[4096,4096]')
      ;;
    jax | torch)
      has_backend "$1" || { why="$python has no $1"; return 1; }
      words=(run --suite released --where "devices<=$count" --backend "$([[ $1 == jax ]] && echo jax,platform=gpu,precision=highest,style=explicit || echo torch,engine=nccl)")
      some 200
      mapfile -t more < <(cases_of "$count"; products_of "$count")
      words+=("${more[@]}")
      ;;
  esac
}

# Four ranks on a card, or one on each of all. What needs more ranks than there are is not drawn.
nccl_words() {
  local step=$1 n=$2 ranks more=() form algorithm share=$((1 << 24))
  ranks=nccl,np=$n
  [[ $step != nccl-shared ]] || n=4 ranks=nccl,np=4,share=hostid
  mapfile -t more < <(cases_of "$n")
  case $step in
    nccl-shared | nccl-alone)
      words=(run --suite smoke --suite reshard --suite matmul --suite agree --where "devices<=$n" --reruns 1 --backend "$ranks" --backend "$ranks,plan=calls")
      some 300
      ;;
    nccl-forms)
      words=(run)
      for form in "${forms[@]}"; do words+=(--backend "$ranks,plan=calls,form=$form"); done
      for algorithm in ring tree; do words+=(--backend "$ranks,plan=calls,algorithm=$algorithm"); done
      ;;
    nccl-bench)
      words=(bench --clock --backend "$ranks,plan=calls")
      [[ $backend != *device=host* ]] || share=256
      more=("on x=$n: reshard f32[$((share * 4))]+x -> f32[$((share * 4))]" "on x=$n: reshard f32[$((share * n))]+x -> f32[$((share * n))@x]"
        "on x=$n: reshard f32[$((share * n))@x] -> f32[$((share * n))]")
      ;;
  esac
  words+=("${more[@]}")
}

# of_node STEP: it needs all cards at once.
of_node() { [[ $1 == nccl-alone || $1 == nccl-forms || $1 == nccl-bench || $1 == jax || $1 == torch ]]; }

# plumb_for UUID SECONDS WORDS...: sees that card alone, and is ended after these seconds.
plumb_for() {
  local uuid=$1 seconds=$2
  shift 2
  [[ $uuid == all ]] || export CUDA_VISIBLE_DEVICES=$uuid
  timeout --foreground -s INT -k 3 "$seconds" "$plumb" "$@"
}

# state STEP PLACE WORD WHY
state() { printf '%s\t%s\n' "$3" "$4" >"$2/$1.state" || touch "$work/full"; }

# The first finding in the words of plumb; of plumb bench neither what a backend cannot time nor what is slower than another way to do it.
finding_in() {
  awk '/^slow  / { next } /^not timed  / { line = $0; getline; if (/^    unsupported: /) next; print line ":" $0; exit }
    /^[a-z]+  .*  on .*: / { print; exit }' "$1"
}

why_unsupported() {
  awk '/^unsupported, by reason/ { getline; sub(/^ *[0-9]+ */, ""); print; exit }
    /^    unsupported: / { sub(/^ *unsupported: /, ""); print; exit }' "$1"
}

# conclude CODE OUTPUT STEP PLACE: what the last words of plumb mean.
conclude() {
  local code=$1 out=$2 step=$3 place=$4 total finding slower  # $seconds: what the step had
  total=$(grep -E '^[0-9]+ cases in ' "$out" | tail -n 1)
  finding=$(finding_in "$out")
  slower=$(grep -c '^slow  ' "$out")
  case $code in
    3)
      touch "$work/full"
      state "$step" "$place" left "$(tail -n 1 "$out")"
      return
      ;;
    124 | 137)
      # No record says how far its clocks in turns were: where they had the time, another call would have no more.
      if [[ $step == nccl-bench && ${seconds:-0} -ge 300 ]]; then state "$step" "$place" failed "hung: not over in $seconds s"
      else state "$step" "$place" left "${total:-cut short}"; fi
      return
      ;;
    130) state "$step" "$place" left "${total:-cut short}"; return ;;
  esac
  if [[ $step == nccl-bench && -z $finding && $code -le 1 ]]; then
    total=$(grep -oE '^(AGREE|DISAGREE|UNSURE)' "$out" | sort | uniq -c | awk '{ print $1, $2 }' | paste -sd ' ')
    case ${total:-no plain call was timed} in
      *DISAGREE* | *UNSURE* | no*) state "$step" "$place" told "beside NCCL alone: ${total:-no plain call was timed}" ;;
      *) state "$step" "$place" pass "beside NCCL alone: $total" ;;
    esac
  elif [[ $total == *unrun* ]]; then
    state "$step" "$place" left "$total"
  elif [[ -n $finding ]]; then
    case $step in
      jax | torch) state "$step" "$place" told "$total" ;;
      *) state "$step" "$place" failed "$finding" ;;
    esac
  elif [[ $code == 0 || ( $code == 1 && -n $(medians "$out") ) ]]; then
    [[ $slower == 0 ]] || total="timed; $slower take longer than another way to do the same"
    state "$step" "$place" pass "${total:-timed}"
  elif [[ -n $(why_unsupported "$out") ]]; then
    state "$step" "$place" unshown "$(why_unsupported "$out")"
  elif [[ $code == 2 && ( $step == jax || $step == torch ) ]]; then  # it is here, and made for no GPU
    state "$step" "$place" unshown "$(tail -n 1 "$out" | sed 's/^plumb: //')"
  else
    state "$step" "$place" failed "plumb ended with $code: $(tail -n 1 "$out")"
  fi
}

# A planted fault has to get its verdict, or the passes of this card mean little.
faults_of() {
  local uuid=$1 place=$2 until=$((SECONDS + $3)) line name status flags plan text left code word device=() out=$2/faults.out missed judged
  [[ $backend == *device=host* ]] && device=(--device host)
  [[ -s $place/faults.tsv ]] || : >"$out"
  while IFS= read -r line; do
    name=$(sed -E 's/.*"--fault","([^"]*)".*/\1/' <<<"$line") plan=$(sed -E 's/.*"--plan","([^"]*)".*/\1/' <<<"$line")
    status=$(sed -E 's/.*"status":"([^"]*)".*/\1/' <<<"$line") flags=$(sed -E 's/.*"flags":"([^"]*)".*/\1/' <<<"$line")
    text=$(sed -E 's/.*"cases":\["([^"]*)".*/\1/' <<<"$line")
    grep -qF "$line$tab" "$place/faults.tsv" 2>/dev/null && continue
    left=$((until - SECONDS))
    if ((left < 1)); then state faults "$place" left "cut short"; return; fi
    # shellcheck disable=SC2086  # the words of its flags
    plumb_for "$uuid" $((left < 60 ? left : 60)) run $flags --backend "$cuda ${device[*]} --fault $name --plan $plan" "$text" >"$place/fault.out" 2>&1
    code=$?
    cat "$place/fault.out" >>"$out"
    if grep -q ' unsupported$' "$place/fault.out"; then word=unsupported
    elif grep -qE "^$status  " "$place/fault.out"; then word=caught
    elif ((code == 124 || code == 137)) && ((left < 60)); then continue  # it had less than the others
    elif ((code == 3 || code == 125 || code == 126 || code == 127)); then  # our own failure, which says nothing of a card
      state faults "$place" left "plumb ended with $code: $(tail -n 1 "$place/fault.out")"
      return
    else word=missed; fi
    printf '%s\t%s\t%s\n' "$line" "$word" "$name" >>"$place/faults.tsv" || { touch "$work/full"; return; }
  done < <("$cuda" --list)
  rm -f "$place/fault.out"
  judged=$(grep -cv "${tab}unsupported$tab" "$place/faults.tsv")
  mapfile -t missed < <(awk -F "$tab" '$2 == "missed" { print $3 }' "$place/faults.tsv")
  if ((judged == 0)); then state faults "$place" unshown "no fault could be planted here"
  elif ((${#missed[@]})); then state faults "$place" failed "not caught: ${missed[*]}"
  else state faults "$place" pass "$judged planted faults caught"; fi
}

# Figures of our kernels, each beside a ceiling of the same run: what falls short of the wanted one is told, and is no card's.
kernels_of() {
  local uuid=$1 place=$2 seconds=$3 out=$2/kernels.out code said
  [[ -x $kernels ]] || { state kernels "$place" unshown "this tree has no ${kernels##*/}"; return; }
  [[ $backend != *device=host* ]] || uuid=-1  # no card is to be seen
  CUDA_VISIBLE_DEVICES=$uuid timeout --foreground -k 3 "$seconds" "$kernels" --benchmark_format=json ${sample:+--benchmark_min_time=0.01} >"$out" 2>"$out.said"
  code=$?
  cat "$out.said" >>"$out" && rm -f "$out.said"
  said=$(kernel_figures "$out")
  case $code in
    124 | 137) state kernels "$place" left "cut short" ;;
    0)
      [[ $backend == *device=host* ]] || ! grep -q '"label": "this processor' "$out" || said=host
      case $said in
        host) state kernels "$place" unshown "no GPU: it ran on this processor" ;;
        *'is not proved'*) state kernels "$place" failed "wrong  $said" ;;
        *wanted* | *': '*) state kernels "$place" told "$said" ;;
        *) state kernels "$place" pass "$said" ;;
      esac
      ;;
    *) state kernels "$place" failed "${kernels##*/} ended with $code: $(tail -n 1 "$out")" ;;
  esac
}

# step_on STEP UUID PLACE SECONDS
step_on() {
  local step=$1 uuid=$2 place=$3 seconds=$4 words=() why out=$3/$1.out more
  case $step in
    doctor)
      plumb_for "$uuid" 60 doctor >"$out" 2>&1  # what is missing here is no fault of a card
      if grep -q '^machine ' "$out"; then state doctor "$place" pass "$(sed -n 's/^machine *//p' "$out")"
      else state doctor "$place" failed "$(tail -n 1 "$out")"; fi
      return
      ;;
    faults) faults_of "$uuid" "$place" "$seconds"; return ;;
    kernels) kernels_of "$uuid" "$place" "$seconds"; return ;;
  esac
  words_of "$step" || { state "$step" "$place" unshown "$why"; return; }
  more=()
  [[ $step == nccl-bench ]] || more=(--record "$place/$step.jsonl" --resume)  # clocks in turns are not recorded
  [[ " ${words[*]} " == *" --sample "* || $step == nccl-bench ]] || more+=("${sampled[@]}")
  if [[ ${words[0]} == run ]]; then more+=(--budget "$((seconds * 3 / 4))s" --timeout "$((seconds / 4 + 1))"); fi
  plumb_for "$uuid" "$seconds" "${words[@]}" "${more[@]}" >"$out.new" 2>&1
  local code=$?
  mv "$out.new" "$out"
  conclude "$code" "$out" "$step" "$place"
}
