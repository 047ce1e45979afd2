"""Generated forms of many layouts, which weights of document reading may be fitted on."""
