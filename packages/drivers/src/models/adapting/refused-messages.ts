import type { LanguageModelV4CallOptions, LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { createHash } from 'node:crypto'
import { stepFor, type Refusal, type Step } from './step.ts'

type Call = LanguageModelV4CallOptions
type Message<Role> = Extract<LanguageModelV4Message, { role: Role }>
type Content<Role> = Message<Role>['content']

const says =
  (pattern: RegExp) =>
  ({ text }: Refusal): boolean =>
    pattern.test(text)

const withPrompt =
  (change: (prompt: LanguageModelV4Prompt) => LanguageModelV4Prompt) =>
  (call: Call): Call => ({ ...call, prompt: change(call.prompt) })

const noSystem =
  /system (?:role|messages?|prompt|instruction)s?\b.{0,40}(?:not|un)\s?(?:be )?(?:support|enabled|allowed)|(?:not|n't) support (?:the )?system|roles must alternate|only user(?:,| and) assistant/i
// DeepSeek and Kimi require it in all answers that belong to calls, also in those of other models.
const wantsReasoning = /missing|required|pass(?:ed)? back|must (?:have|contain|include)/i

// Error messages of Mistral and servers that use its tokenizer, and of Anthropic and OpenAI behind a gateway.
const noCallIds =
  /tool.?call.?id.{0,120}(?:must be a-z|length of 9)|tool_use.id.{0,40}should match|tool_calls\S{0,20}\bid\b.{0,20}too long/is

// Error messages of OpenAI's responses API for stored thoughts.
const lostItems = /item with id .{0,80}not found|duplicate item found|of type .{0,40}was provided without its required/i

/** Leaves out thoughts that a provider was to keep, and does not. */
export const forgottenThoughts: Step = stepFor('stored thoughts', says(lostItems), withPrompt(withoutThoughts))

/** Leave out or rewrite parts of messages that a refusal names. */
export const messageSteps: readonly Step[] = [
  stepFor('long call ids', says(noCallIds), withPrompt(withShortIds)),
  // Error message of OpenRouter for calls that Gemini did not make.
  stepFor(
    'calls without reasoning details',
    says(/reasoning details to be preserved/i),
    withPrompt((prompt) => prompt.map(sealed)),
  ),
  // Error message of Gemini for calls that it did not make.
  stepFor('unsigned calls', says(/missing a .?thought_?signature/i), withPrompt(signed)),
  // Error message of Anthropic when a thinking model is given a search that it did not request.
  stepFor(
    'thinking with calls without thoughts',
    says(/expected .?thinking.? or .?redacted_thinking/i),
    ({ reasoning, ...call }) => (reasoning && !lacksThoughts(call.prompt) ? { ...call, reasoning } : call),
  ),
  stepFor(
    'reasoning in messages',
    ({ text, call }) =>
      call.prompt.some(({ role, content }) => role === 'assistant' && content.some(isThought)) &&
      /\breasoning(?:_content)?\b/i.test(text) &&
      !wantsReasoning.test(text),
    withPrompt(withoutThoughts),
  ),
  stepFor(
    'calls without reasoning',
    ({ text, call }) =>
      call.prompt.some(lacksThought) && /\breasoning(?:_content)?\b/i.test(text) && wantsReasoning.test(text),
    withPrompt((prompt) =>
      prompt.map((message) =>
        lacksThought(message)
          ? { ...message, content: [{ type: 'reasoning', text: '.' }, ...message.content] }
          : message,
      ),
    ),
  ),
  stepFor(
    'system messages',
    says(noSystem),
    withPrompt((prompt) => bridged(alternating(prompt))),
  ),
  stepFor('a message right after results', says(/unexpected role .?user.? after role .?tool/i), withPrompt(bridged)),
]

type ToolCall = Extract<Content<'assistant'>[number], { type: 'tool-call' }>

/** Some servers give the same ids in each chat. */
function callName({ toolCallId, toolName, input }: ToolCall): string {
  const hash = createHash('sha256').update(`${toolName} ${JSON.stringify(input)}`)
  return `the call ${toolCallId} (${hash.digest('hex').slice(0, 12)})`
}

/** Writes calls and their results as plain messages, those that were refused alone. */
export const historyAsText: Step = {
  read: ({ call: { prompt } }) => prompt.flatMap((message) => callsOf(message).map(callName)),
  mend: (call, refused) =>
    refused.size === 0
      ? call
      : withPrompt((prompt) => callsAsText(prompt, (part) => refused.has(callName(part))))(call),
}

const callsOf = ({ role, content }: LanguageModelV4Message): readonly ToolCall[] =>
  role === 'assistant' ? content.filter((part) => part.type === 'tool-call') : []

/** Writes calls and their results as plain messages, for servers without support for tools. */
export function callsAsText(
  prompt: LanguageModelV4Prompt,
  isRefused: (call: ToolCall) => boolean,
): LanguageModelV4Prompt {
  const refused = new Set<unknown>(prompt.flatMap(callsOf).filter(isRefused))
  if (refused.size === 0) return prompt
  let ids = new Set<string>()
  const isText = (id: string): boolean => ids.has(id)
  return prompt.flatMap((message): LanguageModelV4Message[] => {
    if (message.role === 'assistant') {
      const calls = callsOf(message)
      ids = new Set(calls.filter((part) => refused.has(part)).map(({ toolCallId }) => toolCallId))
      if (calls.length > 0 && ids.size === 0) return [message]
      // A thought belongs to the call that followed it, and one of an answer to those before.
      const content = message.content.filter((part) => !refused.has(part) && !isThought(part))
      const hasWords = content.some((part) => part.type !== 'text' || part.text.trim() !== '')
      return hasWords ? [{ ...message, content }] : []
    }
    if (message.role !== 'tool') return [message]
    const texts = message.content.flatMap((part) =>
      part.type === 'tool-result' && isText(part.toolCallId) ? { type: 'text' as const, text: asText(part) } : [],
    )
    const content = message.content.filter((part) => part.type !== 'tool-result' || !isText(part.toolCallId))
    return [
      ...(content.length > 0 ? [{ ...message, content }] : []),
      ...texts.map((text) => ({ ...userMessage([text]), providerOptions: { inlay: { isAdded: true } } })),
    ]
  })
}

const userMessage = (content: Content<'user'>): LanguageModelV4Message => ({ role: 'user', content })

function asText({ toolName, output }: Extract<Content<'tool'>[number], { type: 'tool-result' }>): string {
  const isPlain = output.type === 'text' || output.type === 'error-text'
  const value = isPlain ? output.value : JSON.stringify('value' in output ? output.value : output)
  return `Results of ${toolName.includes('search') ? 'a search made' : `the tool ${toolName}, called`} for you:\n${value}`
}

const isThought = ({ type }: { readonly type: string }): boolean => type === 'reasoning' || type === 'reasoning-file'

function withoutThoughts(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  return prompt.map((message) => withAssistant(message, (part) => (isThought(part) ? [] : [part])))
}

/** Whether an assistant gave no thought; an empty one does not count for servers that want one. */
const lacksThought = (message: LanguageModelV4Message): message is Message<'assistant'> =>
  message.role === 'assistant' && !message.content.some((part) => part.type === 'reasoning' && part.text !== '')

/** The message with other parts, if it is one of the assistant. */
function withAssistant(
  message: LanguageModelV4Message,
  change: (part: Content<'assistant'>[number]) => Content<'assistant'>,
): LanguageModelV4Message {
  return message.role === 'assistant' ? { ...message, content: message.content.flatMap(change) } : message
}

function lacksThoughts(prompt: LanguageModelV4Prompt): boolean {
  const last = prompt.findLast(({ role }) => role === 'assistant')
  const parts = last?.role === 'assistant' ? last.content : []
  return parts.some(({ type }) => type === 'tool-call') && !parts.some(isThought)
}

/** The signature that Google documents for calls of other models. */
const thoughtSignature = 'skip_thought_signature_validator'

/** Adds the signature in the form of OpenRouter, by its own provider or by its address. */
function sealed(message: LanguageModelV4Message): LanguageModelV4Message {
  const call = message.role === 'assistant' && message.content.find((part) => part.type === 'tool-call')
  if (!call || JSON.stringify(message.content).includes('"reasoning.encrypted"')) return message
  const common = { type: 'reasoning.encrypted', format: 'google-gemini-v1', index: 0 }
  const fields = { reasoning_details: [{ ...common, id: call.toolCallId, data: thoughtSignature }] }
  return { ...message, providerOptions: { ...message.providerOptions, openrouter: fields, openaiCompatible: fields } }
}

function signed(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const google = { thoughtSignature }
  return prompt.map((message) =>
    withAssistant(message, (part) => {
      const isSigned = Object.values(part.providerOptions ?? {}).some((options) => 'thoughtSignature' in options)
      return [
        part.type === 'tool-call' && !isSigned
          ? { ...part, providerOptions: { ...part.providerOptions, google } }
          : part,
      ]
    }),
  )
}

/** Numbers the calls with ids of nine letters and digits. */
function withShortIds(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const ids = new Map<string, string>()
  const shorten = <Part extends { type: string }>(part: Part): Part => {
    if (!('toolCallId' in part) || typeof part.toolCallId !== 'string') return part
    const short = ids.get(part.toolCallId) ?? `call${String(ids.size + 1).padStart(5, '0')}`
    ids.set(part.toolCallId, short)
    return { ...part, toolCallId: short }
  }
  return prompt.map((message) =>
    message.role === 'tool'
      ? { ...message, content: message.content.map(shorten) }
      : withAssistant(message, (part) => [shorten(part)]),
  )
}

/** Puts words of the assistant between the results of its calls and a message of the user. */
function bridged(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const bridge: LanguageModelV4Message = {
    role: 'assistant',
    content: [{ type: 'text', text: 'I have read the results.' }],
  }
  return prompt.flatMap((message, at) =>
    message.role === 'user' && prompt[at - 1]?.role === 'tool' ? [bridge, message] : [message],
  )
}

/** Puts system messages into the user message that follows, and joins neighbours of one role. */
function alternating(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const joined: LanguageModelV4Message[] = []
  for (const given of prompt) {
    const message = given.role === 'system' ? userMessage([{ type: 'text', text: given.content }]) : given
    const last = joined.at(-1)
    if (last?.role === 'user' && message.role === 'user')
      joined[joined.length - 1] = { ...last, content: joinTexts([...last.content, ...message.content]) }
    else joined.push(message)
  }
  return joined
}

/** The parts with texts that follow each other as one: a single text is sent as a string, which any server reads. */
function joinTexts(parts: Content<'user'>): Content<'user'> {
  const joined: Content<'user'> = []
  for (const part of parts) {
    const last = joined.at(-1)
    if (last?.type === 'text' && part.type === 'text')
      joined[joined.length - 1] = { ...last, text: `${last.text}\n\n${part.text}` }
    else joined.push(part)
  }
  return joined
}
