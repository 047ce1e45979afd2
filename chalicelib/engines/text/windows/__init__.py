"""Long texts are divided into windows, whose weighted vectors are joined to one vector."""
