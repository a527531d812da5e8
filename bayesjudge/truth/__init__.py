"""The latent-truth model of verdicts and labels, and its closed forms.

A model of it is a choice of components; a `Component` of your own works with every verb.
"""

from bayesjudge.truth.components import Component

__all__ = ["Component"]
