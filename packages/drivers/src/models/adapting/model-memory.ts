import type { ModelObservations } from '@inlay/agent'
import type { ModelAbilities } from './probe.ts'
import { statedWindow } from './window.ts'

/** Observations about one model of a provider, from responses of its server. */
export interface ModelMemory extends ModelObservations {
  /** In milliseconds since 1970. */
  readonly since: number
  /** What the server refuses, by the names that the steps give it. */
  readonly refused: Set<string>
  contextTokens: number | undefined
  /** Whether a refusal contained the context window, which takes precedence over lists. */
  hasStatedWindow: boolean
  ask?: ModelObservations['ask']
  /** Found out by a probe, or recorded before; undefined while unknown. */
  abilities?: ModelAbilities
  /** Whether a probe found out nothing, which another one would hardly do soon. */
  hasFailedProbe?: boolean
  /** What the repair of its output has learned. */
  readonly repairState: object
}

export type ModelMemories = (modelId: string) => ModelMemory

// Bounded because clients can send any name to a provider without a list.
const maxModels = 1_000

/** How long information about a model is cached: it may be upgraded, and a gateway may replace it by another. */
const keptMs = 3_600_000

/** @param knownOf what the server of a model is known to refuse */
export function createMemories(knownOf: (modelId: string) => readonly string[] = () => []): ModelMemories {
  const memories = new Map<string, ModelMemory>()
  return (modelId) => {
    const known = memories.get(modelId)
    if (known && Date.now() - known.since < keptMs) return known
    if (memories.size >= maxModels) memories.clear()
    const memory: ModelMemory = {
      since: Date.now(),
      refused: new Set(knownOf(modelId)),
      get refusesTools() {
        return this.refused.has('tools')
      },
      repairState: {},
      contextTokens: undefined,
      hasStatedWindow: false,
    }
    memories.set(modelId, memory)
    return memory
  }
}

/** Remembers the context window in a refusal of a prompt, which may also arrive in a stream. */
export function noteWindow(memory: ModelMemory, refusal: string): void {
  const stated = statedWindow(refusal)
  memory.contextTokens = stated ?? memory.contextTokens
  memory.hasStatedWindow ||= stated !== undefined
}
