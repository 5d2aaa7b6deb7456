import type { KyselyPlugin } from 'kysely'

/** Runs something once, after the first result of a query that names a text. */
export function after(named: string, happen: () => Promise<unknown>): KyselyPlugin {
  const ids = new WeakSet<object>()
  let hasHappened = false
  return {
    transformQuery: ({ node, queryId }) => {
      if (JSON.stringify(node).includes(named)) ids.add(queryId)
      return node
    },
    transformResult: async ({ result, queryId }) => {
      if (hasHappened || !ids.has(queryId)) return result
      hasHappened = true
      await happen()
      return result
    },
  }
}
