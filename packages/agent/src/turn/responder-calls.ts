import { isJsonObject, type PacketBody } from '@inlay/protocol'
import type { ResponderPart } from '../contracts/responder.ts'
import type { CallWriter } from '../packet-writer.ts'
import { researchToolNames } from '../research/tools.ts'
import { toCallDetail } from '../tool-calls/call-detail.ts'
import type { ToolCallRecord } from '../contracts/conversation-store.ts'
import type { AnswerProgress, CallSetting } from '../tool-calls/run-tool-calls.ts'
import { idOfName, toData } from '../tool-calls/host-actions.ts'

type Part<Type extends ResponderPart['type']> = Extract<ResponderPart, { type: Type }>

/** A call that a responder carries out itself, shown as a custom tool or, if it has a task, as a sub-agent. */
export interface ResponderCall {
  /** The packet that announces it; sent with the other calls of its step. */
  readonly start: PacketBody
  open(writer: CallWriter): void
  /** Handles text and calls of a sub-agent, results and failures. */
  onPart(part: Part<'text' | 'reasoning' | 'call' | 'result' | 'failure'>): void
  readonly hasEnded: boolean
}

export interface ResponderCallOptions {
  /** Its id, unique in the answer. */
  readonly id: string
  readonly call: Part<'call'>
  readonly setting: CallSetting
  readonly progress: AnswerProgress
  /** Makes an id unique in the answer. */
  readonly uniqueId: (id: string) => string
}

interface Place {
  readonly writer: CallWriter
  readonly sub: number | null
  readonly parentId: string | null
}

/** Creates a call; events before it has a place wait. */
export function createResponderCall(options: ResponderCallOptions): ResponderCall {
  const { call, id, uniqueId } = options
  const early: Parameters<ResponderCall['onPart']>[0][] = []
  const children = new Map<string, ReturnType<typeof createShownCall>>()
  let shown: ReturnType<typeof createShownCall> | undefined
  let place: Place | undefined
  const onPart: ResponderCall['onPart'] = (part) => {
    if (!shown || !place) return void early.push(part)
    if (part.type === 'text') shown.addText(part.delta)
    else if (part.type === 'call') {
      const childPlace: Place = { writer: place.writer, sub: children.size, parentId: id }
      const child = createShownCall({ ...options, id: uniqueId(part.callId), call: part }, childPlace)
      children.set(part.callId, child)
      place.writer.emitNested(startPacket(part), childPlace.sub)
      child.begin()
    } else if (part.type === 'result' || part.type === 'failure') {
      const target = part.parentId === undefined ? shown : children.get(part.callId)
      target?.end(part)
    }
  }
  return {
    start: startPacket(call),
    open: (writer) => {
      place = { writer, sub: null, parentId: null }
      shown = createShownCall(options, place)
      shown.begin()
      for (const part of early.splice(0)) onPart(part)
    },
    onPart,
    get hasEnded() {
      return shown?.hasEnded() ?? false
    },
  }
}

function startPacket({ name, task }: Part<'call'>): PacketBody {
  return task === undefined
    ? { type: 'custom_tool_start', tool_name: name, tool_id: idOfName(name) }
    : { type: 'research_agent_start', research_task: task }
}

/** A call with its place: writes its packets and stores it when it ends. */
function createShownCall(options: ResponderCallOptions, place: Place) {
  const { call } = options
  const { writer, sub } = place
  const { name, task, input } = call
  const isAgent = task !== undefined
  const packets: PacketBody[] = [startPacket(call)]
  const args = isJsonObject(input) ? input : {}
  let report = ''
  let hasEnded = false
  const emit = (...bodies: PacketBody[]): void => {
    for (const packet of bodies) {
      packets.push(packet)
      writer.emitNested(packet, sub)
    }
  }
  const addText = (delta: string): void => {
    if (!isAgent || hasEnded || delta === '' || (report === '' && delta.trim() === '')) return
    if (report === '') emit({ type: 'intermediate_report_start' })
    report += delta
    emit({ type: 'intermediate_report_delta', content: delta })
  }
  return {
    hasEnded: () => hasEnded,
    addText,
    begin: () => {
      if (!isAgent && Object.keys(args).length > 0) emit({ type: 'custom_tool_args', tool_name: name, tool_args: args })
    },
    end: (part: Part<'result' | 'failure'>) => {
      if (hasEnded) return
      if (part.type === 'failure') {
        const { message: exception } = part
        if (isAgent) emit({ type: 'error', exception, error_code: 'UNKNOWN_ERROR', is_retryable: true })
      } else if (isAgent) {
        if (report === '') addText(part.text)
      } else emit({ type: 'custom_tool_delta', tool_name: name, tool_id: idOfName(name), ...toData(part.text) })
      hasEnded = true
      store(options, place, part, packets)
      if (isAgent) writer.emitNested({ type: 'intermediate_report_cited_docs', cited_docs: [] }, sub)
      if (sub === null) writer.end()
      else writer.emitNested({ type: 'section_end' }, sub)
    },
  }
}

function store(
  { call: { name, task, input }, id, setting, progress }: ResponderCallOptions,
  { writer, sub, parentId }: Place,
  end: Part<'result' | 'failure'>,
  packets: readonly PacketBody[],
): void {
  const toolName = task === undefined ? name : researchToolNames.agent
  const toolArguments = task === undefined ? (isJsonObject(input) ? input : {}) : { task }
  const result = end.type === 'failure' ? `Tool failed with error: ${end.message}` : end.text
  const record: ToolCallRecord = {
    ...writer.place,
    callId: id,
    actionId: task === undefined ? idOfName(name) : 0,
    name: toolName,
    failed: end.type === 'failure',
    arguments: toolArguments,
    result,
    ...(sub !== null && { reasoning: null }),
    packets,
    documents: null,
    images: null,
    ...(parentId === null || sub === null ? {} : { parentCallId: parentId, subTurnIndex: sub }),
  }
  progress.calls.push(record)
  setting.onEnd(toCallDetail(record))
}
