/** Running tool calls, so that clients can cancel them. */
export interface McpCalls {
  /** Runs work that `cancel` with the same key aborts. */
  run<Value>(key: string, work: (cancelled: AbortSignal) => Promise<Value>): Promise<Value>
  /** Does nothing when no work with the key is running. */
  cancel(key: string): void
}

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
