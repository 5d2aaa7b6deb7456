import { isCiting } from '../citations/citing-actions.ts'
import {
  coerceArguments,
  InlayError,
  isInlayError,
  isJsonObject,
  readJson,
  storable,
  withDeclaredNames,
  type PacketBody,
  type ToolCallDetail,
  type Usage,
} from '@inlay/protocol'
import { approvalRule, declinedText, needsApproval, toArguments, waitingCall } from './approval.ts'
import { toCallDetail } from './call-detail.ts'
import { checkCall, type ToolCallHooks } from './call-hooks.ts'
import type { CallPlan, PlannedCall } from './call-plan.ts'
import type { CitationRange } from '../citations/citable-documents.ts'
import type { Action, ActionResult, ActionTurn, ModelPicture, ToolApprovalPolicy } from '../contracts/action.ts'
import type { AnsweredCall, ModelStep, RequestedCall } from '../prompt/model-steps.ts'
import type { CallWriter, PacketWriter } from '../packet-writer.ts'
import type { ToolCallRecord } from '../contracts/conversation-store.ts'
import { mapConcurrent, untilAborted } from '@inlay/scheduling'

export interface CallSetting {
  /** What each action gets, beside what belongs to its call. */
  readonly turn: Omit<
    ActionTurn,
    'toolCallId' | 'arguments' | 'resultTokens' | 'showModel' | 'signal' | 'emit' | 'cite'
  >
  /** Whether the arguments for MCP servers are sent, as only clients of another API read them. Default: false. */
  readonly showsMcpArguments?: boolean
  readonly signal: AbortSignal
  /** Timeout of one call, in milliseconds. */
  readonly timeoutMs: number
  readonly onError: (error: unknown) => void
  readonly approval: ToolApprovalPolicy
  /** Until when a person may approve a call, asked with each. Absent: nobody can be asked, and such a call fails. */
  readonly approvableUntil?: (() => number) | undefined
  readonly hooks?: ToolCallHooks | undefined
  readonly onEnd: (detail: ToolCallDetail) => void
}

/** Calls and usage of an answer so far; readable at any time. */
export interface AnswerProgress {
  readonly calls: ToolCallRecord[]
  /** Steps of the model that have ended; none of a research. */
  readonly steps: ModelStep[]
  usage: Usage
  /** Why it ended, if not by itself; only for clients that read it. */
  stopReason?: 'length' | 'content_filter' | 'tool_calls'
}

export interface OpenCall extends PlannedCall {
  readonly writer: CallWriter
  readonly range: CitationRange
  readonly resultTokens: number
  /** Receives what it shows to the model; absent where the model does not see. */
  readonly pictures?: ModelPicture[]
  /** Its arguments, if they were prepared before it runs. */
  readonly prepared?: Promise<CheckedInput>
}

// More calls of one step than this wait for a free slot.
const parallelCalls = 10

/** Runs the calls of a step in parallel. @returns their results in the order of the calls, whichever ends first */
export async function runCalls(
  calls: readonly OpenCall[],
  setting: CallSetting,
  progress: AnswerProgress,
): Promise<AnsweredCall[]> {
  const earlier = progress.calls.length
  const records: ToolCallRecord[] = []
  const answered = await mapConcurrent(calls, parallelCalls, async (call, index): Promise<AnsweredCall> => {
    const record = await runCall(call, setting)
    records[index] = record
    // In the order of the calls, whichever ends first.
    progress.calls.splice(earlier, records.length, ...records.filter((known) => known !== undefined))
    return { ...call, name: record.name, input: JSON.stringify(record.arguments), result: record.result }
  })
  setting.signal.throwIfAborted()
  return answered
}

/** The calls that need it are recorded and do not run. @returns the other calls */
export async function requestApprovals(
  calls: readonly OpenCall[],
  setting: CallSetting,
  progress: AnswerProgress,
): Promise<readonly OpenCall[]> {
  const { approvableUntil } = setting
  if (!approvableUntil) return calls
  const others: OpenCall[] = []
  for (const call of calls) {
    const { action, writer, id: callId, decision } = call
    const isFree = decision !== undefined || approvalRule(action, setting.approval) === false
    const prepared = isFree ? undefined : prepareInput(call, setting)
    // Arguments that do not fit, and refusals of the host, are told to the model, without bothering anybody.
    const checked = await prepared?.catch(() => undefined)
    if (!checked || !(await needsApproval(action, checked.input, setting))) {
      others.push({ ...call, ...(prepared && { prepared }) })
      continue
    }
    const place = { ...writer.place, callId, arguments: toArguments(checked.given) }
    const { request, record } = waitingCall(action, place, approvableUntil())
    writer.emitNested(request, null)
    writer.leave()
    progress.calls.push(record)
  }
  return others
}

/** Hands calls over to the client that runs their tools. @returns the calls with the ids under which it knows them */
export function handOver(
  calls: readonly OpenCall[],
  requested: readonly RequestedCall[],
  progress: AnswerProgress,
): (AnsweredCall & { readonly clientId: string })[] {
  return calls.map(({ action: { id: actionId, name }, position, providerOptions, id, writer }) => {
    const clientId = `call_${crypto.randomUUID().replaceAll('-', '')}`
    const json = requested[position]?.input.trim() || '{}'
    const packet = { type: 'client_tool_call', tool_call_id: clientId, tool_name: name, arguments: json } as const
    writer.emitNested(packet, null)
    writer.leave()
    const ended = { failed: false, result: ranByClient, packets: [packet], documents: null, images: null }
    progress.calls.push({
      ...writer.place,
      ...ended,
      callId: clientId,
      actionId,
      name,
      arguments: toArguments(readJson(json)),
    })
    return { id, name, input: json, result: '', clientId, ...(providerOptions && { providerOptions }) }
  })
}

const ranByClient = 'The client ran this tool; its result was for the next answer.'

/** Announces the calls of a step and gives each its place, citation numbers and share of the prompt. */
export function openCalls(
  calls: CallPlan['calls'],
  requested: number,
  freeTokens: number,
  writer: PacketWriter,
): OpenCall[] {
  if (calls.length === 0) return []
  const starts = calls.map(({ action, position }) => ({ position, start: action.start?.() }))
  const writers = writer.openCalls(requested, starts)
  const openRange = writer.citable.openStep()
  // Citing calls are numbered first, so that the only search of a step starts at the next number.
  const numbered = calls.toSorted((a, b) => Number(isCiting(b.action)) - Number(isCiting(a.action)))
  // Keeps space for the model's text before its next calls.
  const resultTokens = Math.max(500, Math.floor((freeTokens * 0.8) / calls.length))
  return calls.flatMap((call, index) => {
    const callWriter = writers[index]
    const range = openRange(numbered.indexOf(call))
    return callWriter ? [{ ...call, writer: callWriter, range, resultTokens }] : []
  })
}

/** Runs a call to its end; never rejects. `section_end` is sent exactly once. */
export async function runCall(call: OpenCall, setting: CallSetting): Promise<ToolCallRecord> {
  const { action, writer, decision } = call
  const startedAt = performance.now()
  const packets: PacketBody[] = []
  const start = action.start?.()
  if (start) packets.push(start)
  if (decision) writer.emitNested({ type: 'tool_approval_response', ...decision }, null)
  let result: ActionResult
  let failed = false
  let given = call.input
  try {
    const checked = await (call.prepared ?? prepareInput(call, setting))
    given = checked.given
    if (!decision && (await needsApproval(action, checked.input, setting)))
      throw new InlayError('INSUFFICIENT_PERMISSIONS', { message: nobodyAsked })
    const emit = (packet: PacketBody): void => {
      writer.emit(packet)
      packets.push(packet)
    }
    const isDeclined = decision?.approved === false
    result = isDeclined ? { text: declinedText(decision) } : await runAction(call, checked, setting, emit)
  } catch (error) {
    failed = true
    const { text, packet } = describeFailure(error, action, setting)
    if (packet) writer.emitNested(packet, null)
    result = { text: `Tool failed with error: ${text}` }
  }
  writer.end(result.foundDocuments)
  const { name } = action
  const stored: ToolCallRecord = {
    ...writer.place,
    callId: call.id,
    actionId: action.id,
    name,
    failed,
    arguments: toArguments(given),
    // Results of hosts may contain characters that neither models nor databases accept.
    result: storable(result.text),
    // Replays show custom actions under their display name.
    packets: packets.map((packet) =>
      'tool_name' in packet && packet.type !== 'tool_call_debug'
        ? { ...packet, tool_name: action.displayName }
        : packet,
    ),
    documents: result.documents ?? null,
    images: result.images ?? null,
  }
  const after = setting.hooks?.afterToolCall
  if (after) {
    const { caller, sessionId, messageId } = setting.turn
    const ended = { name, arguments: stored.arguments, result: stored.result, failed }
    const durationMs = performance.now() - startedAt
    // Async, so that what a plain function throws is reported too.
    void (async () => after({ caller, sessionId, messageId, ...ended, durationMs }))().catch(setting.onError)
  }
  setting.onEnd(toCallDetail(stored))
  return stored
}

const nobodyAsked = 'A person would have to approve this call, and cannot be asked here. It was not made.'

/** Arguments after validation, and as given or coerced. */
interface CheckedInput {
  readonly input: unknown
  readonly given: unknown
}

async function checkInput({ action, input }: OpenCall): Promise<CheckedInput> {
  if (input === undefined) throw badArguments('they are not valid JSON')
  const schema = action.input['~standard']
  const declared = schema.jsonSchema.input({ target: 'draft-07' })
  // Under another name an optional argument would be missed by nobody.
  const named = withDeclaredNames(input, declared)
  const outcome = await schema.validate(named)
  if (outcome.issues === undefined) return { input: outcome.value, given: named }
  const meant = coerceArguments(named, declared)
  const second = await schema.validate(meant)
  if (second.issues === undefined) return { input: second.value, given: meant }
  const faults = second.issues.slice(0, 5).map(({ message, path }) => {
    const place = path?.map((step) => (isJsonObject(step) ? String(step['key']) : String(step))).join('.')
    return place ? `${place}: ${message}` : message
  })
  throw badArguments(faults.join('; '))
}

const badArgumentsMark = 'inlay.arguments'

function badArguments(faults: string): InlayError {
  const message = `The arguments do not fit the tool's schema (${faults}). Call it again with arguments that do.`
  return new InlayError('VALIDATION_ERROR', { message, data: { [badArgumentsMark]: true } })
}

/**
 * The arguments of a call, or those that the host replaces them with: a person is shown, and the call is stored with, what
 * it runs with. A call that was approved keeps what the person saw; the host may still refuse it.
 */
async function prepareInput(call: OpenCall, setting: CallSetting): Promise<CheckedInput> {
  const checked = await checkInput(call)
  const { hooks, onError } = setting
  const { caller, sessionId, messageId } = setting.turn
  const { decision, action } = call
  const hook = hooks?.beforeToolCall
  if (!hook || decision?.approved === false) return checked
  const coming = { caller, sessionId, messageId, name: action.name, arguments: checked.input }
  const other = await withinLimit(setting, (signal) => checkCall(hook, { ...coming, signal }, onError))
  return other === undefined || decision ? checked : checkInput({ ...call, input: other })
}

/** Ends work at the timeout of a call, also if it ignores its signal: it must not block the run. */
async function withinLimit<Result>(
  setting: CallSetting,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(tooLong(setting.timeoutMs)), setting.timeoutMs)
  const signal = AbortSignal.any([setting.signal, limit.signal])
  try {
    signal.throwIfAborted()
    return await untilAborted(work(signal), signal)
  } finally {
    clearTimeout(timer)
  }
}

function runAction(
  call: OpenCall,
  { input, given }: CheckedInput,
  setting: CallSetting,
  emit: (packet: PacketBody) => void,
): Promise<ActionResult> {
  const turn: Omit<ActionTurn, 'signal'> = {
    ...setting.turn,
    toolCallId: call.id,
    arguments: isJsonObject(given) ? given : {},
    resultTokens: call.resultTokens,
    emit,
    showModel: call.pictures && ((picture) => void call.pictures!.push(picture)),
    cite: call.range.cite,
  }
  const { name, mcpServerId } = call.action
  if (setting.showsMcpArguments && mcpServerId !== undefined)
    emit({ type: 'custom_tool_args', tool_name: name, tool_args: toArguments(input) })
  return withinLimit(setting, async (signal) => call.action.run(input, { ...turn, signal }))
}

function tooLong(timeoutMs: number): InlayError {
  const message = `The tool took longer than ${Math.round(timeoutMs / 1000)} seconds and was ended.`
  return new InlayError('GATEWAY_TIMEOUT', { message })
}

/** Describes a failure for the model, and as a packet for the one kind of call whose clients expect it. */
function describeFailure(
  error: unknown,
  action: Action,
  { signal, onError }: CallSetting,
): { readonly text: string; readonly packet?: PacketBody } {
  if (signal.aborted) return { text: 'The run was stopped.' }
  const failureOf = (exception: string, code: string, isRetryable: boolean): { text: string; packet?: PacketBody } => ({
    text: exception,
    ...(action.tellsFailure === true && {
      packet: { type: 'error', exception, error_code: code, is_retryable: isRetryable },
    }),
  })
  if (isInlayError(error)) {
    if (error.data[badArgumentsMark] === true) return { text: error.message }
    if (error.code === 'INTERNAL_ERROR') onError(error)
    return failureOf(error.message, error.code, error.retryable)
  }
  onError(error)
  // Hosts write the errors of their own actions; those of built-in ones may contain internals.
  const isHosts = action.builtIn === null && error instanceof Error && error.message !== ''
  const text = isHosts ? error.message.slice(0, 1_000) : `${action.displayName} failed for an unexpected reason.`
  return failureOf(text, 'UNKNOWN_ERROR', true)
}
