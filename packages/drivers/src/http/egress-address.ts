import { BlockList, isIP } from 'node:net'

/** Non-public IPv4 ranges: IANA special-purpose registry, multicast, reserved. */
const closedV4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]

/**
 * Non-public parts of the global unicast range: Teredo and 6to4 carry an IPv4 address inside, the rest are
 * for protocols and documentation. Everything outside `2000::/3` (loopback, unique-local, link-local, mapped and
 * translated IPv4, multicast) is refused anyway.
 */
const closedV6: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]

const closed = new BlockList()
for (const [network, prefix] of closedV4) closed.addSubnet(network, prefix, 'ipv4')
for (const [network, prefix] of closedV6) closed.addSubnet(network, prefix, 'ipv6')
const globalUnicast = new BlockList()
globalUnicast.addSubnet('2000::', 3, 'ipv6')

/**
 * Whether an address belongs to the public internet. Loopback, private, link-local, shared (CGNAT), multicast,
 * reserved and documentation ranges do not, nor do IPv6 forms that wrap an IPv4 address.
 * @param address an IPv4 or IPv6 address without brackets; a zone makes it non-public
 */
export function isPublicAddress(address: string): boolean {
  if (address.includes('%')) return false
  switch (isIP(address)) {
    case 4:
      return !closed.check(address, 'ipv4')
    case 6:
      return globalUnicast.check(address, 'ipv6') && !closed.check(address, 'ipv6')
    default:
      return false
  }
}
