"""What the promises of the README rest on: the real program among killers, bad weather and busy editors."""
