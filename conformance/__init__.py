"""Values of other packages, and what stakes says in their place."""
