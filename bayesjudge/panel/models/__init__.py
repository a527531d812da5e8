"""Models of a panel, one file per family: `PanelModel` is what they share."""
