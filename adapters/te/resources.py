"""Which mesh axes are Transformer Engine's resources."""

import dataclasses


class Unknown(ValueError):
    """An option that is no mapping of resources."""


def known(mesh_resource):
    return [f.name.removesuffix("_resource") for f in dataclasses.fields(mesh_resource)]


def parsed(text, mesh_resource):
    """`fsdp:fsdp.expert/tp:tp` as {"fsdp": ("fsdp", "expert"), "tp": ("tp",)}; {} for an empty text."""
    found = {}
    for piece in filter(None, (text or "").split("/")):
        name, colon, axes = piece.partition(":")
        axes = tuple(axes.split("."))
        if not colon or not all(axes):
            raise Unknown(f"resources: expected RESOURCE:AXIS, as in fsdp:data/tp:model, found {piece!r}")
        if name not in known(mesh_resource):
            raise Unknown(f"resources: no resource {name!r}; this release has {', '.join(known(mesh_resource))}")
        if name in found:
            raise Unknown(f"resources: {name} stands twice")
        found[name] = axes
    return found


def of_mesh(given, axes, mesh_resource):
    """The MeshResource for a mesh: what was given, else each axis that is named like a resource is that resource."""
    given = given or {name: (name,) for name in known(mesh_resource) if name in axes}
    return mesh_resource(**{f"{name}_resource": a[0] if len(a) == 1 else a for name, a in given.items()})


def missing(given, axes):
    """The first axis given that the mesh lacks, or None."""
    return next((a for named in given.values() for a in named if a not in axes), None)
