import type { InlayError, PacketBody, SearchDoc, StreamLine, Usage } from '@inlay/protocol'
import * as v from 'valibot'
import { createAnswerReader, type AnswerEvent } from './answer-lines.ts'
import type { CitedMark } from './cited-text.ts'
import { toApiError } from './errors.ts'
import { fileOfDocument, fileTag } from './vector-store-additions.ts'

/** What else both have is as in OpenAI's API. */
export const eventSchema = v.looseObject({ type: v.string(), sequence_number: v.number() })
export const responseSchema = v.looseObject({
  id: v.string(),
  object: v.literal('response'),
  created_at: v.number(),
  status: v.picklist(['in_progress', 'completed', 'incomplete', 'failed', 'cancelled']),
  model: v.string(),
  output: v.array(v.looseObject({ id: v.string(), type: v.string() })),
  error: v.nullable(v.object({ code: v.string(), message: v.string() })),
  usage: v.nullable(v.looseObject({ input_tokens: v.number(), output_tokens: v.number(), total_tokens: v.number() })),
})

export type ResponseEvent = v.InferOutput<typeof eventSchema>

type ResponseObject = v.InferOutput<typeof responseSchema>
export type ResponseHead = Fields & Pick<ResponseObject, 'id' | 'object' | 'created_at' | 'model'>

export interface ResponseOptions {
  readonly head: ResponseHead
  readonly key: string
  readonly urlOf: (documentId: string) => string
  readonly withResults: boolean
}

/** The events of an answer: a pure function of the lines of its run. */
export interface ResponseReader {
  take(line: StreamLine): readonly ResponseEvent[]
  end(): readonly ResponseEvent[]
  failure(): InlayError | undefined
  response(): ResponseObject
}

type Fields = Readonly<Record<string, unknown>>
export type OutputItem = Fields & { readonly id: string; readonly type: string }

interface OpenItem {
  readonly index: number
  readonly id: string
  readonly place: string
  item: Fields & { readonly type: string }
  text: string
  status: 'completed' | 'failed'
}

export function createResponseReader({ head, key, urlOf, withResults }: ResponseOptions): ResponseReader {
  const reader = createAnswerReader(urlOf)
  const output: OutputItem[] = []
  const open = new Map<string, OpenItem>()
  const events: ResponseEvent[] = []
  let sequence = 0
  let status: ResponseObject['status'] = 'in_progress'
  let [error, incomplete]: [ResponseObject['error'], object | null] = [null, null]
  let usage: Usage | undefined
  let failure: InlayError | undefined
  let textStart = 0
  let marks = 0
  let isOver = false
  const emit = (type: string, fields: Fields): void => {
    events.push({ type, ...fields, sequence_number: sequence++ })
  }
  const response = () => ({
    ...head,
    status,
    error,
    incomplete_details: incomplete,
    output,
    usage: isOver && status !== 'failed' ? toUsage(usage) : null,
  })
  const openItem = (place: string, prefix: string, item: OpenItem['item']): OpenItem => {
    const index = output.length
    const id = `${prefix}_${key}_${index}`
    const opened: OpenItem = { index, id, place, item, text: '', status: 'completed' }
    output.push({ id, ...item })
    open.set(place, opened)
    emit('response.output_item.added', { output_index: index, item: { id, ...item } })
    return opened
  }
  const at = ({ index, id }: OpenItem): Fields => ({ item_id: id, output_index: index })
  const closeItem = (opened: OpenItem, item: Fields): void => {
    open.delete(opened.place)
    const whole = { id: opened.id, ...opened.item, ...item }
    output[opened.index] = whole
    emit('response.output_item.done', { output_index: opened.index, item: whole })
  }
  const close = (opened: OpenItem): void => {
    const { item, text, status: ended } = opened
    switch (item.type) {
      case 'message': {
        const annotations = reader.cited.marks.slice(marks).map((mark) => toAnnotation(mark, textStart))
        marks = reader.cited.marks.length
        const part = { type: 'output_text', text, annotations, logprobs: [] }
        emit('response.output_text.done', { ...at(opened), content_index: 0, text, logprobs: [] })
        emit('response.content_part.done', { ...at(opened), content_index: 0, part })
        return closeItem(opened, { status: 'completed', content: [part] })
      }
      case 'reasoning': {
        const part = { type: 'summary_text', text }
        emit('response.reasoning_summary_text.done', { ...at(opened), summary_index: 0, text })
        emit('response.reasoning_summary_part.done', { ...at(opened), summary_index: 0, part })
        return closeItem(opened, { summary: [part] })
      }
      case 'mcp_call': {
        const failed = ended === 'failed'
        emit(`response.mcp_call.${failed ? 'failed' : 'completed'}`, at(opened))
        return closeItem(opened, failed ? { error: text || 'The tool failed.' } : { output: text })
      }
      default: {
        const outputs = item.type === 'code_interpreter_call' && {
          outputs: text === '' ? [] : [{ type: 'logs', logs: text }],
        }
        emit(`response.${item.type}.completed`, at(opened))
        return closeItem(opened, { status: ended, ...outputs })
      }
    }
  }
  const closeAll = (kinds?: readonly string[]): void => {
    for (const opened of open.values()) if (kinds?.includes(opened.item.type) ?? true) close(opened)
  }

  const write = (event: AnswerEvent, known: number): void => {
    switch (event.type) {
      case 'text': {
        closeAll(['reasoning'])
        let message = open.get('text')
        if (!message) {
          textStart = reader.cited.text.length - event.text.length
          message = openItem('text', 'msg', { type: 'message', status: 'in_progress', role: 'assistant', content: [] })
          const part = { type: 'output_text', text: '', annotations: [], logprobs: [] }
          emit('response.content_part.added', { ...at(message), content_index: 0, part })
        }
        message.text += event.text
        emit('response.output_text.delta', { ...at(message), content_index: 0, delta: event.text, logprobs: [] })
        for (const [offset, mark] of reader.cited.marks.slice(known).entries())
          emit('response.output_text.annotation.added', {
            ...at(message),
            content_index: 0,
            annotation_index: known - marks + offset,
            annotation: toAnnotation(mark, textStart),
          })
        return
      }
      case 'reasoning': {
        closeAll(['message'])
        let reasoning = open.get('reasoning')
        if (!reasoning) {
          reasoning = openItem('reasoning', 'rs', { type: 'reasoning', summary: [] })
          const part = { type: 'summary_text', text: '' }
          emit('response.reasoning_summary_part.added', { ...at(reasoning), summary_index: 0, part })
        }
        reasoning.text += event.text
        emit('response.reasoning_summary_text.delta', { ...at(reasoning), summary_index: 0, delta: event.text })
        return
      }
      case 'call': {
        closeAll()
        const fields = { type: 'function_call', call_id: event.id, name: event.name }
        const call = openItem('call', 'fc', { ...fields, status: 'in_progress', arguments: '' })
        const input = event.arguments || '{}'
        emit('response.function_call_arguments.delta', { ...at(call), delta: input })
        emit('response.function_call_arguments.done', { ...at(call), arguments: input, name: event.name })
        return closeItem(call, { status: 'completed', arguments: input })
      }
      case 'stop': {
        closeAll()
        ;[isOver, usage] = [true, event.usage]
        const reason = { length: 'max_output_tokens', content_filter: 'content_filter', stop: null, tool_calls: null }[
          event.reason
        ]
        status = reason === null ? 'completed' : 'incomplete'
        incomplete = reason === null ? null : { reason }
        return emit(`response.${status}`, { response: response() })
      }
      case 'error': {
        closeAll()
        failure = event.error
        const { code, message, param } = toApiError(failure)
        const shown = { code: code ?? 'server_error', message }
        ;[isOver, error] = [true, status === 'cancelled' ? null : shown]
        if (status !== 'cancelled') status = 'failed'
        emit('error', { ...shown, param })
        return emit('response.failed', { response: response() })
      }
    }
  }

  const takeTool = (obj: PacketBody, place: string): void => {
    const opened = open.get(place)
    const startCall = (prefix: string, item: OpenItem['item']): OpenItem => {
      closeAll(['message', 'reasoning'])
      const started = openItem(place, prefix, item)
      emit(`response.${item.type}.in_progress`, at(started))
      return started
    }
    const change = (item: Fields): void => {
      if (opened) opened.item = { ...opened.item, ...item }
    }
    switch (obj.type) {
      case 'search_tool_start':
        if (obj.is_internet_search) startCall('ws', webSearch)
        else startCall('fs', { type: 'file_search_call', ...inProgress, queries: [], results: null })
        return
      case 'search_tool_queries_delta':
        if (!opened) return
        if (opened.item.type === 'file_search_call') change({ queries: obj.queries })
        else change({ action: { type: 'search', query: obj.queries.join(', '), sources: [] } })
        return emit(`response.${opened.item.type}.searching`, at(opened))
      case 'search_tool_documents_delta':
        if (opened?.item.type === 'file_search_call')
          change({ results: withResults ? obj.documents.map(toResult) : null })
        else if (opened) {
          const sources = obj.documents.flatMap(({ link }) => (link ? [{ type: 'url', url: link }] : []))
          change({ action: { ...Object(opened.item['action']), sources } })
        }
        return
      case 'python_tool_start': {
        const call = startCall('ci', { ...python, code: obj.code })
        return emit('response.code_interpreter_call.interpreting', at(call))
      }
      case 'python_tool_delta':
        if (opened) opened.text += obj.stdout + obj.stderr
        return
      case 'custom_tool_start':
        startCall('mcp', { ...mcp, name: obj.tool_name })
        return
      case 'custom_tool_args':
        return change({ arguments: JSON.stringify(obj.tool_args) })
      case 'custom_tool_delta': {
        // Results of MCP servers have no id of a tool, are wrapped, and come behind what is said of their progress.
        const wrapped = obj.tool_id === null ? (Object(obj.data) as Fields) : {}
        if (!opened || 'progress' in wrapped) return
        if ('error' in wrapped) opened.status = 'failed'
        const data = wrapped['error'] ?? wrapped['tool_result'] ?? obj.error ?? obj.data
        opened.text += typeof data === 'string' ? data : JSON.stringify(data)
        return
      }
      // A picture is a file of Inlay: its address is given, and not its bytes.
      case 'image_generation_start':
        startCall('mcp', { ...mcp, name: 'generate_image' })
        return
      case 'image_generation_final':
        if (opened) opened.text = JSON.stringify(obj.images)
        return
      case 'error':
        if (opened) [opened.status, opened.text] = ['failed', obj.exception]
        return
      case 'section_end':
        if (opened) close(opened)
        return
      default:
        return
    }
  }

  const step = (line?: StreamLine): readonly ResponseEvent[] => {
    if (isOver) return []
    if (sequence === 0)
      for (const type of ['created', 'in_progress'])
        emit(`response.${type}`, { response: { ...response(), output: [] } })
    const known = reader.cited.marks.length
    if (line && 'obj' in line) {
      const { placement, obj } = line
      if (obj.type === 'stop' && obj.stop_reason === 'user_cancelled') status = 'cancelled'
      if (placement.sub_turn_index === null) takeTool(obj, `${placement.turn_index}.${placement.tab_index}`)
    }
    for (const event of line ? reader.take(line) : reader.end()) write(event, known)
    return events.splice(0)
  }
  return { take: step, end: () => step(), failure: () => failure, response }
}

const inProgress = { status: 'in_progress' }
const webSearch = { type: 'web_search_call', ...inProgress, action: { type: 'search', query: '', sources: [] } }
const python = { type: 'code_interpreter_call', ...inProgress, container_id: 'inlay', outputs: null }
const mcp = { type: 'mcp_call', server_label: 'inlay', arguments: '{}', output: null, error: null }

/** @param textStart where the text of its message begins in that of the answer */
function toAnnotation({ document, url, start, end }: CitedMark, textStart: number) {
  const { semantic_identifier: title } = document
  const file = document.link ? undefined : fileOfDocument(document.document_id)
  if (file) return { type: 'file_citation', file_id: file, filename: title, index: start - textStart }
  return { type: 'url_citation', url, title, start_index: start - textStart, end_index: end - textStart }
}

function toResult({ document_id: id, semantic_identifier: filename, score, blurb, metadata }: SearchDoc) {
  const entries = Object.entries(metadata).filter(([name]) => name !== fileTag)
  const attributes = Object.fromEntries(entries.map(([name, value]) => [name, String(value)]))
  return { file_id: fileOfDocument(id) ?? id, filename, score: score ?? 0, text: blurb, attributes }
}

function toUsage(usage: Usage | undefined) {
  const [input, output] = [usage?.input_tokens ?? 0, usage?.output_tokens ?? 0]
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage?.cached_input_tokens ?? 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: usage?.reasoning_tokens ?? 0 },
    total_tokens: input + output,
  }
}
