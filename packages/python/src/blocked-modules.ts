import dgram from 'node:dgram'
import dns from 'node:dns'
import { registerHooks } from 'node:module'
import net from 'node:net'
import tls from 'node:tls'

/**
 * Disables sockets, name resolution, modules and signals, which the permissions of this process leave open. Programs
 * run in a context without access to them; this is a second barrier in case one escapes. Cannot be undone.
 */
export function blockModules(): void {
  const refuse = (): never => {
    throw new Error('This process has no way out.')
  }
  const shut = (holder: object, names: readonly string[]): void => {
    for (const name of names) {
      if (!(name in holder)) continue
      Object.defineProperty(holder, name, { value: refuse, writable: false, configurable: false })
    }
  }
  // All connections of Node use these, including those of fetch and http.
  shut(net.Socket.prototype, ['connect'])
  shut(net.Server.prototype, ['listen'])
  shut(tls.TLSSocket.prototype, ['connect'])
  shut(dgram.Socket.prototype, ['bind', 'connect', 'send'])
  shut(dns, ['lookup', 'lookupService'])
  shut(dns.promises, ['lookup', 'lookupService'])
  for (const resolver of [dns, dns.promises, dns.Resolver.prototype, dns.promises.Resolver.prototype]) {
    shut(resolver, namesOf(resolver))
  }
  shut(globalThis, ['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest', 'Worker', 'BroadcastChannel'])
  shut(process, ['binding', '_linkedBinding', 'getBuiltinModule', 'dlopen', 'kill', '_kill', '_debugProcess', 'send'])
  // Freeze the built-ins, since everything here relies on them.
  for (const builtIn of [Object, Function, Array, Promise, Error, TypeError, RangeError, Uint8Array, ArrayBuffer]) {
    Object.freeze(builtIn)
    Object.freeze(builtIn.prototype)
  }
  // No module can be loaded after this.
  registerHooks({ resolve: refuse, load: refuse })
}

function namesOf(resolver: object): string[] {
  return Object.getOwnPropertyNames(resolver).filter((name) => /^(resolve|reverse)/.test(name))
}
