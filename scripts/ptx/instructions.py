"""What C++ an instruction of PTX becomes: functions of adapters/cuda/testing/ptx.h."""

import re

from text import BYTES, Unknown

# An opcode without its type; the types that it may have (unsigned, signed, bits, float, predicate); its value, of the operands
# after the first. {a} is taken as the type of the instruction, {b:u32} as that one; T is the type itself. Sums and products
# of floats say their rounding: without it a card may contract them.
TABLE = """
mov           usbfp  {a}
add           us     add({a}, {b})
sub           us     sub({a}, {b})
mul.lo        us     mul_lo({a}, {b})
mul.hi        us     mul_hi({a}, {b})
mul.wide      us     mul_wide({a}, {b})
mad.lo        us     add(mul_lo({a}, {b}), {c})
mad.hi        us     add(mul_hi({a}, {b}), {c})
div           us     quotient({a}, {b})
rem           us     rest({a}, {b})
min           us     {a} < {b} ? {a} : {b}
max           us     {a} < {b} ? {b} : {a}
neg           s      sub(T(0), {a})
add.cc        us     sum({a}, {b}, false, cc)
addc          us     sum({a}, {b}, cc, lost)
addc.cc       us     sum({a}, {b}, cc, cc)
sub.cc        us     sum({a}, flipped({b}), true, cc)
subc          us     sum({a}, flipped({b}), cc, lost)
subc.cc       us     sum({a}, flipped({b}), cc, cc)
mad.lo.cc     us     sum(mul_lo({a}, {b}), {c}, false, cc)
mad.hi.cc     us     sum(mul_hi({a}, {b}), {c}, false, cc)
madc.lo       us     sum(mul_lo({a}, {b}), {c}, cc, lost)
madc.hi       us     sum(mul_hi({a}, {b}), {c}, cc, lost)
madc.lo.cc    us     sum(mul_lo({a}, {b}), {c}, cc, cc)
madc.hi.cc    us     sum(mul_hi({a}, {b}), {c}, cc, cc)
and           bp     T({a} & {b})
or            bp     T({a} | {b})
xor           bp     T({a} ^ {b})
not           b      flipped({a})
not           p      !{a}
shl           b      shl({a}, {b:u32})
shr           usb    shr({a}, {b:u32})
shf.l.wrap    b      shf_l_wrap({a}, {b}, {c})
shf.r.wrap    b      shf_r_wrap({a}, {b}, {c})
prmt          b      prmt({a}, {b}, {c})
bfi           b      bfi({a}, {b}, {c:u32}, {d:u32})
clz           b      u32(std::countl_zero({a}))
popc          b      u32(std::popcount({a}))
add.rn        f      {a} + {b}
sub.rn        f      {a} - {b}
mul.rn        f      {a} * {b}
div.rn        f      {a} / {b}
rcp.rn        f      T(1) / {a}
rcp.approx    f      T(1) / {a}
neg           f      negative({a})
abs           f      magnitude({a})
selp          usbf   {c:pred} ? {a} : {b}
setp.eq       usbf   {a} == {b}
setp.ne       usb    {a} != {b}
setp.ne       f      are_numbers({a}, {b}) && {a} != {b}
setp.lt       usf    {a} < {b}
setp.le       usf    {a} <= {b}
setp.gt       usf    {a} > {b}
setp.ge       usf    {a} >= {b}
setp.equ      f      !(are_numbers({a}, {b}) && {a} != {b})
setp.neu      f      {a} != {b}
setp.ltu      f      !({a} >= {b})
setp.leu      f      !({a} > {b})
setp.gtu      f      !({a} <= {b})
setp.geu      f      !({a} < {b})
setp.num      f      are_numbers({a}, {b})
setp.nan      f      !are_numbers({a}, {b})
cvta.global   u      {a}
cvta.local    u      {a}
cvta.to.global u     {a}
cvta.to.local  u     {a}
"""
# Of two types, T and the operand's: kinds of both.
CONVERSIONS = """
cvt      us>us  static_cast<T>({a})
cvt      f>f    static_cast<T>({a})
cvt.rn   us>f   static_cast<T>({a})
cvt.rn   f>f    static_cast<T>({a})
cvt.rzi  f>us   truncated<T>({a})
"""
ATOMS = {"add": "add(before, {value})", "min": "before < {value} ? before : {value}", "max": "before < {value} ? {value} : before"}
GLOBAL, SPACES = "global", ("global", "local", "param", "")  # generic
SPECIAL = {f"%{name}.x": f"thread.{name}" for name in ("tid", "ctaid", "ntid", "nctaid")}


def rows(table):
    found = {}
    for line in table.strip().split("\n"):
        opcode, kinds, text = line.split(None, 2)
        for kind in kinds if ">" not in kinds else (f"{a}>{b}" for a in kinds.split(">")[0] for b in kinds.split(">")[1]):
            found[opcode, kind] = text
    return found


INSTRUCTIONS, CONVERTED = rows(TABLE), rows(CONVERSIONS)


def cpp_type(name):
    return name if name == "pred" else name.replace("b", "u")


class Operand:
    """A register, a constant or a place: in a format the type as which it is taken."""

    def __init__(self, kernel, statement, text, taken_as):
        self.kernel, self.statement, self.text, self.taken_as = kernel, statement, text, taken_as

    def __format__(self, taken_as):
        taken_as, text = taken_as or self.taken_as, self.text
        width = BYTES[taken_as]
        if text in self.kernel.registers and taken_as == kept_as(self.kernel.registers[text]):
            return register(text)
        if re.fullmatch(r"-?\d+", text) and taken_as[0] in "pus":
            return str(int(text) != 0).lower() if taken_as == "pred" else f"{taken_as}({int(text) % 2 ** (8 * width):#x}u)"
        if text in self.kernel.registers:
            bits = register(text)
        elif text in SPECIAL:
            bits = SPECIAL[text]
        elif re.fullmatch(r"-?\d+", text):
            bits = f"u64({int(text) % 2**64:#x})"
        elif re.fullmatch(r"0[df][0-9a-fA-F]+", text):
            bits = f"{'u64' if text[1] == 'd' else 'u32'}(0x{text[2:]})"
        else:
            bits = place(self.kernel, self.statement, text)
        return f"{taken_as}({bits})" if taken_as[0] in "us" else f"as<{taken_as}>({bits})"


def kept_as(kind):
    """Registers are unsigned, whatever they hold."""
    return "pred" if kind == "pred" else f"u{8 * BYTES[kind]}"


def register(name):
    return name[1:] + "_"


def place(kernel, statement, name):
    """An address, as a number."""
    if name in kernel.registers:
        return register(name)
    if name in kernel.parameters:
        return f"(reinterpret_cast<u64>(parameters) + {kernel.parameters[name][0]})"
    if name in kernel.locals:
        return f"reinterpret_cast<u64>({name})"
    raise Unknown(statement.line, f"the operand {name}")


def put(kernel, statement, name, kind, value):
    """A narrower integer is extended as its type says."""
    if name not in kernel.registers:
        raise Unknown(statement.line, f"the operand {name}")
    return f"{register(name)} = {f'bits({value})' if kind[0] == 'f' else value};"


def address(kernel, statement, text):
    whole = re.fullmatch(r"\[([%\w$]+)(?:\+(-?\d+))?\]", text)
    if not whole:
        raise Unknown(statement.line, f"the address {text}")
    return f"{place(kernel, statement, whole[1])} + u64({int(whole[2] or 0) % 2**64:#x})"


def elements(text):
    """The registers of a vector, or the one."""
    return re.split(r"\s*,\s*", text[1:-1].strip()) if text.startswith("{") else [text]


def access(kernel, statement, parts):
    """ld, st: what names the bytes, their type, the registers."""
    known = {"volatile", "v2", "v4", *SPACES}
    kind = parts[-1]
    if kind not in BYTES or set(parts[1:-1]) - known:
        raise Unknown(statement.line, statement.opcode)
    place_at, names = statement.operands if parts[0] == "st" else statement.operands[::-1]
    names = elements(names)
    if len(names) != (2 if "v2" in parts else 4 if "v4" in parts else 1):
        raise Unknown(statement.line, statement.opcode)
    whole = f"reached({address(kernel, statement, place_at)}, {BYTES[kind] * len(names)}, {str(GLOBAL in parts).lower()})"
    return f"std::byte* const at = {whole};", cpp_type(kind), BYTES[kind], names


def load(kernel, statement, parts):
    at, kind, width, names = access(kernel, statement, parts)
    how = "load_again" if "volatile" in parts else "load"
    return at + "".join(put(kernel, statement, name, kind, f"{how}<{kind}>(at + {n * width})") for n, name in enumerate(names))


def store(kernel, statement, parts):
    at, kind, width, names = access(kernel, statement, parts)
    return at + "".join(f"store(at + {n * width}, {Operand(kernel, statement, name, kind)});" for n, name in enumerate(names))


def atom(kernel, statement, parts):
    _, space, how, kind = parts if len(parts) == 4 else ("", "", "", "")
    if space != GLOBAL or how not in ATOMS or kind not in BYTES or kind[0] not in "us":
        raise Unknown(statement.line, statement.opcode)
    to, at, value = statement.operands
    after = ATOMS[how].format(value=Operand(kernel, statement, value, kind))
    return (f"std::byte* const at = reached({address(kernel, statement, at)}, {BYTES[kind]}, true);"
            f"const {kind} before = load<{kind}>(at);store<{kind}>(at, {after});{put(kernel, statement, to, kind, 'before')}")


def packed(kernel, statement, parts):
    """mov of a wide register and its parts, the lowest first."""
    to, value = statement.operands
    bits = 8 * BYTES[parts[-1]]
    names = elements(to if to.startswith("{") else value)
    part = f"u{bits // len(names)}"
    if part not in BYTES:
        raise Unknown(statement.line, statement.opcode)
    step = bits // len(names)
    if to.startswith("{"):
        return f"const u{bits} all = {Operand(kernel, statement, value, f'u{bits}')};" + "".join(
            put(kernel, statement, name, part, f"{part}(all >> {n * step})") for n, name in enumerate(names))
    all_of = " | ".join(f"u{bits}({Operand(kernel, statement, name, part)}) << {n * step}" for n, name in enumerate(names))
    return put(kernel, statement, to, f"u{bits}", f"u{bits}({all_of})")


def computed(kernel, statement, parts):
    """An instruction of the tables."""
    kind = parts[-1]
    opcode, text = ".".join(parts[:-1]), None
    taken_as = kind
    if parts[0] == "cvt" and len(parts) > 2:
        taken_as, opcode, kind = kind, ".".join(parts[:-2]), parts[-2]
        text = CONVERTED.get((opcode, f"{taken_as[0]}>{kind[0]}"))
    elif kind in BYTES:
        text = INSTRUCTIONS.get((opcode, kind[0]))
    to, *given = statement.operands or ("",)
    wanted = sorted(set(re.findall(r"\{([a-d])[:}]", text or "")))
    if text is None or kind not in BYTES or taken_as not in BYTES or len(given) != len(wanted):
        raise Unknown(statement.line, f"{statement.opcode} of {len(given)} operands")
    operands = {letter: Operand(kernel, statement, one, cpp_type(taken_as)) for letter, one in zip("abcd", given)}
    made = "pred" if parts[0] == "setp" else kind
    return put(kernel, statement, to, made, re.sub(r"\bT\b", cpp_type(kind), text).format(**operands))


def cpp(kernel, statement):
    parts = statement.opcode.split(".")
    operands = statement.operands
    if parts in (["bra"], ["bra", "uni"]) and len(operands) == 1:
        return f"goto {label(operands[0])};"
    if parts in (["ret"], ["exit"]):
        return "return;"
    if parts in (["trap"], ["brkpt"]):
        return f'stop("{parts[0]} of line {statement.line} in {kernel.name}");'
    if parts[0] in ("ld", "st", "atom"):
        if len(operands) != (3 if parts[0] == "atom" else 2):
            raise Unknown(statement.line, statement.opcode)
        return {"ld": load, "st": store, "atom": atom}[parts[0]](kernel, statement, parts)
    if parts[0] == "mov" and len(operands) == 2 and "{" in operands[0] + operands[1]:
        return packed(kernel, statement, parts)
    return computed(kernel, statement, parts)


def label(name):
    return name.replace("$", "at_")
