"""compile=: the program as torch.compile makes it."""

import torch


def compiled(program, how):
    """The program, compiled; itself where `how` is None. What breaks a graph raises: one graph runs, or none. A watch of
    collectives would make torch run the program as it stands, so a compiled one has no trace."""
    if how is None:
        return program
    torch._dynamo.reset()
    return torch.compile(program, backend=how, fullgraph=True, dynamic=False)
