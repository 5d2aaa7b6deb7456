import type { ModelObservations } from '@inlay/agent'
import type { Transport, TransportAnswer, TransportRequest } from '../stream/transport.ts'
import { readAnswer } from './answer-text.ts'
import { readRequest, refusedPart, withoutRefused, type Omission } from './refusals.ts'
import { statedWindow } from './window.ts'

/** Observations about one model of a provider, from responses of its server. */
export interface ModelMemory extends ModelObservations {
  /** In milliseconds since 1970. */
  readonly since: number
  readonly refused: Set<Omission>
  refusesTools: boolean
  contextTokens: number | undefined
  /** Whether a refusal of its server named the window, which counts more than what lists tell. */
  hasStatedWindow: boolean
  ask?: () => Promise<void>
}

/** Observations about the models of one provider, by name. */
export type ModelMemories = (modelId: string) => ModelMemory

// Bounded because clients can send any name to a provider without a list.
const mostModels = 1_000
const mostRepeats = 6
const mostRefusalChars = 20_000

/** How long what a server says of a model counts: it may be upgraded, and a gateway may put another behind the name. */
const keptMs = 3_600_000

export function createMemories(): ModelMemories {
  const memories = new Map<string, ModelMemory>()
  return (modelId) => {
    const known = memories.get(modelId)
    if (known && Date.now() - known.since < keptMs) return known
    if (memories.size >= mostModels) memories.clear()
    const memory: ModelMemory = {
      since: Date.now(),
      refused: new Set(),
      refusesTools: false,
      contextTokens: undefined,
      hasStatedWindow: false,
    }
    memories.set(modelId, memory)
    return memory
  }
}

/**
 * Carries requests and leaves out what a server has refused before. A refusal that names a part of the request is
 * learned, and the request is sent again without it. A refusal of tools reaches the caller, who can then search by
 * other means; the next request goes without tools.
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
      const text = await readAnswer(answer, mostRefusalChars)
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
        // Some servers call it a fault of their own, which would only be tried again.
        return { ...repeated, status: 400 }
      }
      if (repeats >= mostRepeats) return repeated
    }
  }
}

/** Learns the window that a refusal of a prompt names, which may also come within a stream. */
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
