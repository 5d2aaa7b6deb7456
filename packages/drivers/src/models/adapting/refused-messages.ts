import { isJsonObject } from '@inlay/protocol'

/** Parts of messages that some servers refuse. */
export type MessageOmission =
  | 'system messages'
  | 'reasoning in messages'
  | 'long call ids'
  | 'a message right after results'
  | 'unsigned calls'
  | 'thinking with calls without thoughts'

const noSystem =
  /system (?:role|messages?|prompt|instruction)s?\b.{0,40}(?:not|un)\s?(?:be )?(?:support|enabled|allowed)|(?:not|n't) support (?:the )?system|roles must alternate|only user(?:,| and) assistant/i
const noReasoning = /\breasoning(?:_content)?\b/i
// DeepSeek and others require the reasoning together with calls.
const wantsReasoning = /missing|required|pass(?:ed)? back|must (?:have|contain|include)/i
// Error message of Mistral, and of servers that use its tokenizer.
const noCallIds = /tool.?call.?id.{0,120}(?:must be a-z|length of 9)/is
const noMessageAfterResults = /unexpected role .?user.? after role .?tool/i
// Error message of Anthropic when a thinking model is given a search that it did not request.
const noThoughts = /expected .?thinking.? or .?redacted_thinking/i
// Error message of Gemini for calls that it did not make.
const unsigned = /missing a .?thought_?signature/i

/** Reads which part of its messages a server refused. */
export function refusedInMessages(text: string, messages: readonly unknown[]): MessageOmission | undefined {
  if (noCallIds.test(text)) return 'long call ids'
  if (noMessageAfterResults.test(text)) return 'a message right after results'
  if (unsigned.test(text)) return 'unsigned calls'
  if (noThoughts.test(text)) return 'thinking with calls without thoughts'
  const hasReasoning = messages.some((message) => isJsonObject(message) && 'reasoning_content' in message)
  if (hasReasoning && noReasoning.test(text) && !wantsReasoning.test(text)) return 'reasoning in messages'
  return noSystem.test(text) ? 'system messages' : undefined
}

/** Messages without their refused parts. */
export function withPlainMessages(given: readonly unknown[], refused: ReadonlySet<string>): readonly unknown[] {
  let messages = given
  if (refused.has('reasoning in messages')) messages = messages.map(withoutReasoning)
  if (refused.has('unsigned calls')) messages = messages.map(signed)
  if (refused.has('long call ids')) messages = withShortIds(messages)
  if (refused.has('system messages')) messages = alternating(messages)
  if (refused.has('a message right after results') || refused.has('system messages')) messages = bridged(messages)
  return messages
}

/** Whether the last calls in Anthropic's form have no thought before them. */
export function lacksThoughts(messages: readonly unknown[]): boolean {
  const last = messages.findLast((message) => isJsonObject(message) && message['role'] === 'assistant')
  const content = isJsonObject(last) && Array.isArray(last['content']) ? last['content'].filter(isJsonObject) : []
  const types = content.map(({ type }) => type)
  return types.includes('tool_use') && !types.some((type) => type === 'thinking' || type === 'redacted_thinking')
}

function withoutReasoning(message: unknown): unknown {
  if (!isJsonObject(message)) return message
  const { reasoning_content: _, ...others } = message
  return others
}

/** Adds the signature that Google documents for calls of other models. */
function signed(message: unknown): unknown {
  if (!isJsonObject(message) || !Array.isArray(message['tool_calls'])) return message
  const extra = { google: { thought_signature: 'skip_thought_signature_validator' } }
  const calls = message['tool_calls'].map((call: unknown) =>
    isJsonObject(call) && call['extra_content'] === undefined ? { ...call, extra_content: extra } : call,
  )
  return { ...message, tool_calls: calls }
}

/** Numbers the calls with ids of nine letters and digits. */
function withShortIds(messages: readonly unknown[]): unknown[] {
  const ids = new Map<unknown, string>()
  const shortOf = (id: unknown): string => {
    const short = ids.get(id) ?? `call${String(ids.size + 1).padStart(5, '0')}`
    ids.set(id, short)
    return short
  }
  return messages.map((message) => {
    if (!isJsonObject(message)) return message
    if (message['role'] === 'tool') return { ...message, tool_call_id: shortOf(message['tool_call_id']) }
    if (!Array.isArray(message['tool_calls'])) return message
    const calls = message['tool_calls'].map((call: unknown) =>
      isJsonObject(call) ? { ...call, id: shortOf(call['id']) } : call,
    )
    return { ...message, tool_calls: calls }
  })
}

/** Puts words of the assistant between the results of its calls and a message of the user. */
function bridged(messages: readonly unknown[]): unknown[] {
  const roleAt = (at: number): unknown => {
    const message = messages[at]
    return isJsonObject(message) ? message['role'] : undefined
  }
  return messages.flatMap((message, at) =>
    roleAt(at) === 'user' && roleAt(at - 1) === 'tool'
      ? [{ role: 'assistant', content: 'I have read the results.' }, message]
      : [message],
  )
}

/** Writes calls and their results as plain messages, for servers without support for tools. */
export function withoutCalls(messages: readonly unknown[]): unknown[] {
  return messages.flatMap((message) => {
    if (!isJsonObject(message)) return [message]
    const { tool_calls: calls, tool_call_id: _, ...rest } = message
    if (message['role'] === 'tool') {
      return [{ role: 'user', content: `Results of a search made for you:\n${asText(message['content'])}` }]
    }
    if (!Array.isArray(calls)) return [message]
    return asText(rest['content']).trim() === '' ? [] : [rest]
  })
}

/** Puts system messages into the user message that follows, and joins neighbours of one role. */
function alternating(messages: readonly unknown[]): unknown[] {
  const joined: Record<string, unknown>[] = []
  for (const message of messages) {
    if (!isJsonObject(message)) continue
    const role = message['role'] === 'system' || message['role'] === 'developer' ? 'user' : message['role']
    const last = joined.at(-1)
    if (last && last['role'] === role && role !== 'tool' && !('tool_calls' in last) && !('tool_calls' in message))
      last['content'] = joinContent(last['content'], message['content'])
    else joined.push({ ...message, role })
  }
  return joined
}

function joinContent(first: unknown, second: unknown): unknown {
  if (!Array.isArray(first) && !Array.isArray(second)) return `${asText(first)}\n\n${asText(second)}`
  const parts = (content: unknown): readonly unknown[] =>
    Array.isArray(content) ? content : [{ type: 'text', text: asText(content) }]
  return [...parts(first), ...parts(second)]
}

const asText = (content: unknown): string =>
  typeof content === 'string' ? content : content === undefined || content === null ? '' : JSON.stringify(content)
