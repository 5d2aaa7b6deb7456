import { encodeLine, type PacketBody, type StreamLine } from '@inlay/protocol'

/** A line that only appends to a text, encoded in two parts. Lines of one text share the head. */
export interface DeltaLine {
  /** Up to the text, with its opening quote. */
  readonly head: string
  /** Escaped as in a JSON string. */
  readonly text: string
}

/** Follows the text in each {@link DeltaLine}. */
export const deltaTail = '"}}'

/** Longer texts are encoded like other lines, which may split them. */
const maxDeltaChars = 10_000

// Characters that must be escaped in JSON or in a line, and surrogates, which JSON escapes if they are unpaired.
// oxlint-disable-next-line no-control-regex -- JSON requires escapes for all of them
const needsEscape = /["\\\0-\x1f\u0085\u2028\u2029\ud800-\udfff]/

const firstHalf = /[\ud800-\udbff]$/

/**
 * Encoding a whole packet costs several times as much as its text, and the rest of it changes only between blocks.
 * @returns undefined for lines that are no deltas
 */
export function createDeltaEncoder(): (line: StreamLine) => DeltaLine | undefined {
  let type: string | undefined
  let [turn, tab, sub, model] = [-1, -1, null as number | null | undefined, null as number | null | undefined]
  let head: string | undefined
  // First half of a surrogate pair, which some models cut: it waits for the second one.
  let half = ''
  return (line) => {
    if (!('obj' in line)) return undefined
    const { obj, placement } = line
    const text = obj.type === 'message_delta' ? obj.content : obj.type === 'reasoning_delta' ? obj.reasoning : undefined
    if (text === undefined || text.length > maxDeltaChars) return undefined
    const isSame =
      type === obj.type &&
      turn === placement.turn_index &&
      tab === placement.tab_index &&
      sub === placement.sub_turn_index &&
      model === placement.model_index
    if (!isSame) {
      half = ''
      type = obj.type
      ;({ turn_index: turn, tab_index: tab, sub_turn_index: sub, model_index: model } = placement)
      // The same packet without its text.
      const empty = encodeLine({
        placement,
        obj: { ...obj, ...(obj.type === 'message_delta' ? { content: '' } : { reasoning: '' }) } as PacketBody,
      })
      head = empty.endsWith(deltaTail) ? empty.slice(0, -deltaTail.length) : undefined
    }
    if (head === undefined) return undefined
    let whole = half + text
    half = firstHalf.test(whole) ? whole.slice(-1) : ''
    if (half !== '') whole = whole.slice(0, -1)
    return { head, text: needsEscape.test(whole) ? encodeLine({ unknown: whole }).slice(1, -1) : whole }
  }
}
