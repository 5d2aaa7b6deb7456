import { encodeLine, type Packet, type Placement, type StreamLine } from '@inlay/protocol'
import { deltaTail } from './delta-lines.ts'
import type { RunLog } from './run-log.ts'

/** The field of each packet that only appends. Stored lines hold the list of its values, for many packets in one line. */
const growing: Readonly<Record<string, string>> = {
  message_delta: 'content',
  reasoning_delta: 'reasoning',
  deep_research_plan_delta: 'content',
  intermediate_report_delta: 'content',
  tool_call_argument_delta: 'argument_deltas',
}

interface RecordedPacket {
  readonly placement: Placement
  readonly obj: { readonly type: string; readonly [field: string]: unknown }
}

/** An answer whose lines have more characters is shown again from its text and its calls. */
const maxStoredChars = 1_000_000

/**
 * Returns the lines of one answer as they are stored: without signs of life and packets of other models, and with a list
 * of texts for packets in a row at one place that differ in their text. Undefined if the log no longer has all lines,
 * or they are too many to be stored.
 */
export function recordedLines(log: RunLog, modelIndex: number): readonly string[] | undefined {
  if (log.first > 1) return undefined
  const lines: (StreamLine | RecordedPacket)[] = []
  const newest = new Map<string, { readonly type: string; readonly values: unknown[] }>()
  const addPacket = (packet: RecordedPacket, values: readonly unknown[] | undefined): void => {
    const { placement, obj } = packet
    const isOther = (placement.model_index ?? modelIndex) !== modelIndex
    if (isOther || obj.type.endsWith('_heartbeat')) return
    const place = placeOf(placement)
    const before = newest.get(place)
    if (values !== undefined && before?.type === obj.type) {
      for (const value of values) before.values.push(value)
      return
    }
    const kept = { type: obj.type, values: [...(values ?? [])] }
    newest.set(place, kept)
    lines.push(values === undefined ? packet : { placement, obj: { ...obj, [growing[obj.type]!]: kept.values } })
  }
  // Encoded by us from lines.
  for (const { head, texts } of log.blocks()) {
    if (head !== '') {
      addPacket(JSON.parse(head + deltaTail) as RecordedPacket, JSON.parse(`["${texts.join('","')}"]`) as string[])
      continue
    }
    for (const json of texts) {
      const line = JSON.parse(json) as StreamLine | RecordedPacket
      if ('obj' in line) addPacket(line as RecordedPacket, valuesOf(line as RecordedPacket))
      // The first answer has the lines before all packets.
      else if (modelIndex === 0 && !('error' in line)) lines.push(line)
    }
  }
  const encoded = lines.map((line) => encodeLine(line as StreamLine))
  return encoded.reduce((chars, line) => chars + line.length, 0) > maxStoredChars ? undefined : encoded
}

const placeOf = ({ turn_index: turn, tab_index: tab, sub_turn_index: sub }: Placement): string =>
  `${turn}.${tab}.${sub}`

function valuesOf({ obj }: RecordedPacket): readonly unknown[] | undefined {
  const field = growing[obj.type]
  if (field === undefined) return undefined
  const value = obj[field]
  return Array.isArray(value) ? value : [value]
}

/** The lines of a run as they were streamed, from those of {@link recordedLines}. */
export function streamedLines(recorded: readonly string[]): StreamLine[] {
  return recorded.flatMap((json) => {
    // Stored by us.
    const line = JSON.parse(json) as StreamLine | RecordedPacket
    const values = 'obj' in line ? valuesOf(line as RecordedPacket) : undefined
    if (values === undefined) return [line as StreamLine]
    const { placement, obj } = line as RecordedPacket
    return values.map((value) => ({ placement, obj: { ...obj, [growing[obj.type]!]: value } }) as unknown as Packet)
  })
}

/** With each text in one piece. The position of a model among those of one message means nothing afterwards. */
export function recordedPackets(recorded: readonly string[]): Packet[] {
  return recorded.flatMap((json) => {
    // Stored by us.
    const line = JSON.parse(json) as StreamLine | RecordedPacket
    if (!('obj' in line)) return []
    const { placement, obj } = line as RecordedPacket
    const values = valuesOf({ placement, obj })
    const whole = values === undefined ? obj : { ...obj, [growing[obj.type]!]: joined(values) }
    return [{ placement: { ...placement, model_index: null }, obj: whole } as unknown as Packet]
  })
}

/** Texts in one piece; of dictionaries of texts, each text. */
function joined(values: readonly unknown[]): unknown {
  if (values.every((value) => typeof value === 'string')) return values.join('')
  const texts = new Map<string, string>()
  for (const value of values)
    for (const [name, text] of Object.entries(value as object)) texts.set(name, (texts.get(name) ?? '') + String(text))
  return Object.fromEntries(texts)
}
