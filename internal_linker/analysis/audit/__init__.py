"""An audit in the formats of other graph programs: GEXF and GraphML, for Gephi and the like."""
