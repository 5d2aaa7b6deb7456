import { startOpenAi } from '../stand-in/openai.ts'
import type { RecordedRequest, Reply, StandIn } from '../stand-in/model-server.ts'

/** A language model that searches once, cites what it found, and stops in the midst where it is asked to. */
export interface HostModel {
  /** Base URL for the host. */
  readonly env: Readonly<Record<string, string>>
  /** Lets an answer go on that waits after its first word. */
  release(id: string): void
  readonly abandoned: StandIn['abandoned']
  close(): Promise<void>
}

/** The message that makes the model wait after its first word. */
export const holdMessage = (id: string): string => `hold:${id}`

/** Starts the model. */
export async function startModel(): Promise<HostModel> {
  const gates = new Map<string, ReturnType<typeof Promise.withResolvers<void>>>()

  function reply({ body }: RecordedRequest): Reply {
    const text = JSON.stringify(body['messages'])
    const held = /hold:(\w+)/.exec(text)?.[1]
    if (held !== undefined && !gates.has(held)) {
      const gate = Promise.withResolvers<void>()
      gates.set(held, gate)
      return [{ text: 'one ' }, { pause: () => gate.promise }, { text: 'two' }]
    }
    const searched = text.includes('"role":"tool"')
    const search = /"name":"(internal_search)"/.exec(JSON.stringify(body['tools'] ?? []))?.[1]
    if (search === undefined || searched) return [{ text: 'Full-time staff get 25 days [1].' }]
    return [{ calls: [{ id: 'call-1', name: search, input: { queries: ['paid leave'] } }] }]
  }

  const server = await startOpenAi(reply)
  return {
    env: {
      INLAY_MODEL: 'stand-in',
      // An unknown model: its first answers would be held back until it has searched.
      INLAY_MODEL_GROUNDING: 'tools',
      INLAY_MODEL_BASE_URL: `${server.origin}/v1`,
      INLAY_SEARCH_HELP: 'off',
      INLAY_MEMORIES: 'off',
    },
    release: (id) => gates.get(id)?.resolve(),
    abandoned: server.abandoned,
    async close() {
      for (const gate of gates.values()) gate.resolve()
      await server.close()
    },
  }
}
