import type { ModelObservations } from '@inlay/agent'
import type { Transport, TransportAnswer, TransportRequest } from '../stream/transport.ts'
import { readAnswer } from './answer-text.ts'
import type { ModelAbilities } from './probe.ts'
import { readRequest, refusedPart, withoutRefused, type Omission } from './refusals.ts'
import { statedWindow } from './window.ts'

/** Observations about one model of a provider, from responses of its server. */
export interface ModelMemory extends ModelObservations {
  /** In milliseconds since 1970. */
  readonly since: number
  readonly refused: Set<Omission>
  refusesTools: boolean
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

/** Observations about the models of one provider, by name. */
export type ModelMemories = (modelId: string) => ModelMemory

// Bounded because clients can send any name to a provider without a list.
const maxModels = 1_000
const maxRepeats = 6
const maxRefusalChars = 20_000

/** How long information about a model is cached: it may be upgraded, and a gateway may replace it by another. */
const keptMs = 3_600_000

export function createMemories(): ModelMemories {
  const memories = new Map<string, ModelMemory>()
  return (modelId) => {
    const known = memories.get(modelId)
    if (known && Date.now() - known.since < keptMs) return known
    if (memories.size >= maxModels) memories.clear()
    const memory: ModelMemory = {
      since: Date.now(),
      refused: new Set(),
      refusesTools: false,
      repairState: {},
      contextTokens: undefined,
      hasStatedWindow: false,
    }
    memories.set(modelId, memory)
    return memory
  }
}

/**
 * Sends requests without the parts that the server has refused before. If a refusal names a part of the request, that
 * is remembered, and the request is repeated without it. A refusal of tools is returned to the caller, who can then
 * search in another way; later requests omit tools.
 */
export function learningTransport(
  transport: Transport,
  memories: ModelMemories,
  onLearn: (modelId: string, omission: Omission) => void,
): Transport {
  return async (request) => {
    const body = readRequest(request.body)
    if (!body) return transport(request)
    const memory = memories(body.model)
    for (let repeats = 0; ; repeats++) {
      const sent = withoutRefused(body, memory.refused)
      const answer = await transport(withBody(request, sent))
      if (answer.status < 400) return answer
      const text = await readAnswer(answer, maxRefusalChars)
      const repeated = { ...answer, read: replay(text) }
      noteWindow(memory, text)
      const part = refusedPart(answer.status, text, sent, memory.refused)
      if (part === undefined || memory.refused.has(part)) return repeated
      memory.refused.add(part)
      onLearn(body.model, part)
      // Another form of the API has another body.
      if (part === 'chat completions') return repeated
      if (part === 'tools') {
        memory.refusesTools = true
        // Some servers return a 5xx for it, which would only be retried.
        return { ...repeated, status: 400 }
      }
      if (repeats >= maxRepeats) return repeated
    }
  }
}

/** Remembers the context window in a refusal of a prompt, which may also arrive in a stream. */
export function noteWindow(memory: ModelMemory, refusal: string): void {
  const stated = statedWindow(refusal)
  memory.contextTokens = stated ?? memory.contextTokens
  memory.hasStatedWindow ||= stated !== undefined
}

function withBody(request: TransportRequest, body: Readonly<Record<string, unknown>>): TransportRequest {
  const text = JSON.stringify(body)
  const { 'content-length': _, ...headers } = request.headers
  return { ...request, headers, body: text }
}

function replay(text: string): TransportAnswer['read'] {
  return (sink) => {
    sink.push(new TextEncoder().encode(text))
    sink.end()
    return { pause: () => {}, resume: () => {}, cancel: () => {} }
  }
}
