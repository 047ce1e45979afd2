"""The machine learning of the service. It works on arrays, and uses neither AWS nor HTTP."""
