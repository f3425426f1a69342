"""How bounds, constructions, searches, provers and programs are arranged within limits."""
