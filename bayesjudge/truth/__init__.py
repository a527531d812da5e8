"""The latent-truth model of verdicts and labels, and its closed forms."""
