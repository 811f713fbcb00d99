"""The one path from a reply and its evidence to the record of an iteration: live, replayed and explained."""
