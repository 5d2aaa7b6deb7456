/**
 * A part that is made when it is first used: each method waits for the part and then does what it says. For parts
 * whose members are all asynchronous methods, or groups of such methods (`knowledge.pairs.list()`).
 */
export function lazyPart<Part extends object>(load: () => Promise<Part>): Part {
  return lazyMember(async () => load()) as Part // The proxy has every member of a part of this kind, see above.
}

/** Stands for a method and for a group of methods alike; which one it is shows when it is used. */
function lazyMember(load: () => Promise<unknown>, owner?: () => Promise<unknown>): unknown {
  return new Proxy(() => {}, {
    get(_, name) {
      // Not a promise: a part may be returned from an async function without being awaited into something else.
      if (name === 'then') return undefined
      return lazyMember(async () => Reflect.get(Object(await load()), name), load)
    },
    async apply(_, __, argumentList: unknown[]) {
      const method = await load()
      if (typeof method !== 'function') throw new TypeError('This part has no such method.')
      return Reflect.apply(method, owner === undefined ? undefined : await owner(), argumentList)
    },
  })
}
