/** Calls of tools that are under way, so that their clients can call them off. */
export interface McpCalls {
  /** Does work that `cancel` with the same key aborts. */
  run<Value>(key: string, work: (cancelled: AbortSignal) => Promise<Value>): Promise<Value>
  /** Without effect when nothing of the key is under way. */
  cancel(key: string): void
}

/** Makes the list of a server. */
export function createMcpCalls(): McpCalls {
  const underway = new Map<string, AbortController>()
  return {
    run: async (key, work) => {
      const controller = new AbortController()
      underway.set(key, controller)
      try {
        return await work(controller.signal)
      } finally {
        if (underway.get(key) === controller) underway.delete(key)
      }
    },
    cancel: (key) => underway.get(key)?.abort(),
  }
}
