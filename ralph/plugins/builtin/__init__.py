"""Ralph's own parts, which come in as those of others do: one plug-in a part, that of displays with them."""
