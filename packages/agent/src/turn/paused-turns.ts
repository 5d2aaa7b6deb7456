import type { LanguageModelV4Message } from '@ai-sdk/provider'
import type { SearchDoc } from '@inlay/protocol'
import type { CitableDocuments } from '../citations/citable-documents.ts'
import type { AnsweredCall, WrittenPart } from '../prompt/model-steps.ts'

/** An answer that ended with calls of tools that its client runs. */
export interface PausedTurn {
  readonly callerId: string
  /** See `modelKey`. */
  readonly model: string
  /** The steps before the last one, with their results. */
  readonly messages: readonly LanguageModelV4Message[]
  /** What the model wrote in the last step, with its thoughts. */
  readonly content: readonly WrittenPart[]
  /** The calls of that step; one that the client runs has the id under which the client knows it. */
  readonly calls: readonly (AnsweredCall & { readonly clientId?: string })[]
  /** The documents of the answer by their numbers. */
  readonly citable: CitableDocuments
  readonly documents: readonly SearchDoc[] | null
}

/** Paused turns of this process, by the ids of their calls. */
export interface PausedTurns {
  add(turn: PausedTurn): void
  /** Undefined for an id that is unknown, too old or another caller's. */
  get(clientId: string, callerId: string): PausedTurn | undefined
}

const keptMs = 3_600_000
/** Of all turns together, in characters. */
const maxChars = 32 * 2 ** 20

export function createPausedTurns(now: () => number): PausedTurns {
  const turns = new Map<string, { readonly turn: PausedTurn; readonly at: number; readonly chars: number }>()
  let chars = 0
  const sweep = (): void => {
    for (const [id, { at, chars: own }] of turns) {
      if (now() - at < keptMs && chars <= maxChars) break
      turns.delete(id)
      chars -= own
    }
  }
  return {
    add: (turn) => {
      const ids = turn.calls.flatMap(({ clientId }) => clientId ?? [])
      const own = sizeOf([turn.messages, turn.content, turn.calls, turn.documents, turn.citable.texts]) / ids.length
      for (const clientId of ids) {
        turns.set(clientId, { turn, at: now(), chars: own })
        chars += own
      }
      sweep()
    },
    get: (clientId, callerId) => {
      sweep()
      const turn = turns.get(clientId)?.turn
      return turn?.callerId === callerId ? turn : undefined
    },
  }
}

/** Characters of texts and bytes of pictures. */
function sizeOf(parts: readonly unknown[]): number {
  let bytes = 0
  const { length } = JSON.stringify(parts, (_, value: unknown) => {
    if (!(value instanceof Uint8Array)) return value
    bytes += value.byteLength
    return null
  })
  return length + bytes
}
