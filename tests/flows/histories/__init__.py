"""Random histories, and the model of the specification that they are compared with."""
