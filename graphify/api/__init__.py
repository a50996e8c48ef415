"""What users call: function, derivatives, mapping, variables, devices."""
