"""What a link does to packets: values, with units read at the edge."""
