"""What every Python backend of Plumbline needs: the protocol's loop, cases, and traces from HLO text."""

from .case import Case, Spec, parts_text, spec_text
from .choices import checked, refuse, row
from .children import serve_in_children
from .clock import Stages, timed
from .loop import Limit, Refusal, Result, options, serve

__all__ = ["Case", "Spec", "parts_text", "spec_text", "Limit", "Refusal", "Result", "Stages", "checked", "options", "refuse",
           "row", "serve", "serve_in_children", "timed"]
