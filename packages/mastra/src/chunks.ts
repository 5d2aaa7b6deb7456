import { InlayError, isJsonObject } from '@inlay/protocol'
import type { ResponderPart } from '@inlay/agent'
import { toResultText } from './mastra-tools.ts'

const subAgent = /^agent-/

/**
 * Converts one chunk of Mastra's `fullStream` into parts; none for chunks that are not shown.
 * @param parentId call of the sub-agent that the chunk belongs to
 * @throws the failure that a chunk reports
 */
export function* toParts(chunk: unknown, parentId?: string): Generator<ResponderPart> {
  if (!isJsonObject(chunk)) return
  const payload = isJsonObject(chunk['payload']) ? chunk['payload'] : {}
  const parent = parentId === undefined ? {} : { parentId }
  const callId = toText(payload['toolCallId'])
  switch (chunk['type']) {
    case 'step-start':
      if (parentId === undefined) yield { type: 'step' }
      break
    case 'text-delta':
      yield { type: 'text', delta: toText(payload['text']), ...parent }
      break
    case 'reasoning-delta':
      yield { type: 'reasoning', delta: toText(payload['text']), ...parent }
      break
    case 'tool-call':
      yield { type: 'call', callId, ...toCall(payload), ...parent }
      break
    case 'tool-result':
      yield toOutcome(callId, payload['result'], parent)
      break
    case 'tool-error':
      yield { type: 'failure', callId, message: toMessage(payload['error']), ...parent }
      break
    case 'tool-output':
      // Chunks of a sub-agent, or of a sub-agent's sub-agent, which are shown with the first.
      if (subAgent.test(toText(payload['toolName']))) yield* toParts(payload['output'], parentId ?? callId)
      break
    case 'finish':
      if (parentId === undefined) yield toUsage(payload)
      break
    default:
      if (parentId === undefined) throwFailure(chunk['type'], payload)
  }
}

function toCall(payload: Record<string, unknown>): { name: string; input: unknown; task?: string } {
  const name = toText(payload['toolName'])
  const input = payload['args'] ?? {}
  if (!subAgent.test(name)) return { name, input }
  const prompt = isJsonObject(input) ? input['prompt'] : undefined
  return { name, input, task: typeof prompt === 'string' ? prompt : JSON.stringify(input) }
}

/** Mastra reports arguments that do not fit a tool as a result. */
function toOutcome(callId: string, result: unknown, parent: { readonly parentId?: string }): ResponderPart {
  const isRefused = isJsonObject(result) && result['error'] === true && 'validationErrors' in result
  if (isRefused) return { type: 'failure', callId, message: toText(result['message']), ...parent }
  const isAgent = isJsonObject(result) && 'subAgentThreadId' in result
  return { type: 'result', callId, text: isAgent ? toText(result['text']) : toResultText(result), ...parent }
}

function toUsage(payload: Record<string, unknown>): ResponderPart {
  const output = isJsonObject(payload['output']) ? payload['output'] : {}
  const usage = isJsonObject(output['usage']) ? output['usage'] : {}
  const tokens = (name: string): number | null => (typeof usage[name] === 'number' ? usage[name] : null)
  return {
    type: 'usage',
    inputTokens: tokens('inputTokens'),
    outputTokens: tokens('outputTokens'),
    reasoningTokens: tokens('reasoningTokens'),
    cachedInputTokens: tokens('cachedInputTokens'),
  }
}

function throwFailure(type: unknown, payload: Record<string, unknown>): void {
  if (type === 'error') throw payload['error']
  if (type === 'tripwire') {
    const reason = toText(payload['reason'])
    throw new InlayError('CONTENT_POLICY', reason === '' ? {} : { message: reason })
  }
  if (type === 'tool-call-approval' || type === 'tool-call-suspended') {
    throw new InlayError('UNSUPPORTED', {
      message: `The tool ${toText(payload['toolName'])} waits for a person, which is not offered here.`,
    })
  }
}

function toMessage(error: unknown): string {
  if (error instanceof Error) return error.message
  return isJsonObject(error) && typeof error['message'] === 'string' ? error['message'] : String(error)
}

const toText = (value: unknown): string => (typeof value === 'string' ? value : '')
