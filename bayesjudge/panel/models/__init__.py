"""Models of a panel, one file a family: `PanelModel` is what they share."""
