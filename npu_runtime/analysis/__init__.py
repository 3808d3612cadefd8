"""Questions about a graph that change nothing in it; passes and the executor ask them."""
