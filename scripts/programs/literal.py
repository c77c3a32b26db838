"""Arrays as constants of HLO text."""

import numpy as np


def literal(array):
    if array.dtype == np.bool_:
        array = array.astype(np.int8)
    if array.ndim == 0:
        number = array.item()
        return f"{number:.17g}" if isinstance(number, float) else str(number)
    parts = ", ".join(literal(part) for part in array)
    return f"{{ {parts} }}" if array.ndim > 1 else f"{{{parts}}}"


def module_of(values):
    """A module whose result is the tuple of these (array, dtype)."""
    shapes = [f"{dtype}[{','.join(map(str, array.shape))}]" for array, dtype in values]
    lines = [f"  %v{i} = {shape} constant({literal(np.asarray(array))})\n" for i, (shape, (array, _)) in enumerate(zip(shapes, values))]
    operands = ", ".join(f"%v{i}" for i in range(len(values)))
    return f"HloModule values\n\nENTRY %e () -> ({', '.join(shapes)}) {{\n{''.join(lines)}  ROOT %t = ({', '.join(shapes)}) tuple({operands})\n}}\n"
