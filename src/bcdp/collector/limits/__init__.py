"""How much an address may do: connections, rates, invitations."""
