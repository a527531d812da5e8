"""The table of verdicts and labels that every question about judges is asked of."""
