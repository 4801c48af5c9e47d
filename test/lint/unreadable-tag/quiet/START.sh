echo '<call return="END">CHECK</call>'
