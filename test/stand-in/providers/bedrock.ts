import { crc32 } from 'node:zlib'
import type { Dialect, Events, RecordedRequest, ReplyPart } from '../model-server.ts'
import { github, isJson, objects, type Json, type Provider } from './provider.ts'
import { first, forTools, toTool, type OfferedTool } from './schemas.ts'

const isObject = (value: unknown): Json => (isJson(value) ? value : {})

const tools = ({ body }: RecordedRequest): OfferedTool[] =>
  objects(isObject(body['toolConfig'])['tools']).flatMap(({ toolSpec }, at) =>
    isJson(toolSpec) ? [toTool(toolSpec, isObject(toolSpec['inputSchema'])['json'], at)] : [],
  )

interface Block {
  readonly block: Json
  readonly at: number
  readonly index: number
}

const blocksOf = ({ body }: RecordedRequest): Block[] =>
  objects(body['messages']).flatMap((message, at) =>
    objects(message['content']).map((block, index) => {
      return { block, at, index }
    }),
  )

/** One frame of the binary stream that AWS sends. */
function frame(type: string, value: Json): Uint8Array {
  const header = (name: string, text: string): Buffer => {
    const length = Buffer.alloc(2)
    length.writeUInt16BE(text.length)
    return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([7]), length, Buffer.from(text)])
  }
  const headers = Buffer.concat([
    header(':event-type', type),
    header(':content-type', 'application/json'),
    header(':message-type', 'event'),
  ])
  const payload = Buffer.from(JSON.stringify(value))
  const prelude = Buffer.alloc(8)
  prelude.writeUInt32BE(16 + headers.length + payload.length, 0)
  prelude.writeUInt32BE(headers.length, 4)
  const checked = (bytes: Buffer): Buffer => {
    const sum = Buffer.alloc(4)
    sum.writeUInt32BE(crc32(bytes))
    return Buffer.concat([bytes, sum])
  }
  return checked(Buffer.concat([checked(prelude), headers, payload]))
}

const modelId = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const reasons: Readonly<Record<string, string>> = { stop: 'end_turn', tool_calls: 'tool_use', length: 'max_tokens' }
const usage = { inputTokens: 12, outputTokens: 7, totalTokens: 19 }
const signatureOf = (text: string): string => Buffer.from(`signed:${text}`).toString('base64')

function dialect(request: RecordedRequest): Dialect {
  const { path, body } = request
  let called = JSON.stringify(body['messages']).split('"toolUse":').length - 1
  let index = -1
  let open: string | undefined
  const callOf = (name: string): Json => ({ toolUseId: `tooluse_${String(called++).padStart(22, 'Qw7')}`, name })
  const opened = (kind: string): Uint8Array[] => {
    if (open === kind && kind !== 'call') return []
    const before = open === undefined ? [] : [frame('contentBlockStop', { contentBlockIndex: index })]
    open = kind
    index++
    return before
  }
  const delta = (value: Json): Uint8Array => frame('contentBlockDelta', { contentBlockIndex: index, delta: value })
  const write = (part: ReplyPart): Events => {
    if ('text' in part) return [...opened('text'), delta({ text: part.text })]
    if ('reasoning' in part) {
      const pieces = [{ text: part.reasoning }, { signature: signatureOf(part.reasoning) }]
      return [...opened('thought'), ...pieces.map((reasoningContent) => delta({ reasoningContent }))]
    }
    if (!('calls' in part)) return []
    return part.calls.flatMap(({ name, input }) => [
      ...opened('call'),
      frame('contentBlockStart', { contentBlockIndex: index, start: { toolUse: callOf(name) } }),
      delta({ toolUse: { input: JSON.stringify(input) } }),
    ])
  }
  return {
    path,
    streams: path.endsWith('/converse-stream'),
    headers: { 'content-type': 'application/vnd.amazon.eventstream', 'x-amzn-requestid': '6f1c1c9e' },
    start: () => [frame('messageStart', { role: 'assistant' })],
    write,
    finish: (reason) => [
      frame('contentBlockStop', { contentBlockIndex: index }),
      frame('messageStop', { stopReason: reasons[reason] ?? reason }),
      frame('metadata', { usage, metrics: { latencyMs: 12 } }),
    ],
    whole: (parts) => {
      const content = parts.flatMap((part): Json[] => {
        if ('text' in part) return [{ text: part.text }]
        if ('reasoning' in part) {
          const reasoningText = { text: part.reasoning, signature: signatureOf(part.reasoning) }
          return [{ reasoningContent: { reasoningText } }]
        }
        return 'calls' in part ? part.calls.map(({ name, input }) => ({ toolUse: { ...callOf(name), input } })) : []
      })
      const stopReason = content.some((block) => 'toolUse' in block) ? 'tool_use' : 'end_turn'
      return { output: { message: { role: 'assistant', content } }, stopReason, usage, metrics: { latencyMs: 12 } }
    },
  }
}

export const bedrock: Provider = {
  title: 'Amazon Bedrock, converse',
  seesPictures: true,
  rules: [
    {
      name: 'tools while calls are in the messages',
      source: github('langgenius/dify#17545'),
      refuses: (request) =>
        tools(request).length === 0 &&
        blocksOf(request).some(({ block }) => 'toolUse' in block || 'toolResult' in block)
          ? 'The toolConfig field must be defined when using toolUse and toolResult content blocks.'
          : undefined,
    },
    forTools(
      'keys',
      github('aws-solutions-library-samples/accelerated-intelligent-document-processing-on-aws#709'),
      tools,
      ({ schema, at }) =>
        Object.keys(isObject(schema['properties'])).every((key) => /^[a-zA-Z0-9_.-]{1,64}$/.test(key))
          ? undefined
          : `tools.${at}.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'`,
    ),
    {
      name: 'no blank text',
      source: github('NousResearch/hermes-agent#55092'),
      refuses: (request) =>
        first(blocksOf(request), ({ block, at, index }) =>
          typeof block['text'] === 'string' && block['text'].trim() === ''
            ? `The text field in the ContentBlock object at messages.${at}.content.${index} is blank. Add text to the text field, and try again.`
            : undefined,
        ),
    },
    {
      name: 'no empty messages',
      source: github('langchain-ai/langchain#26968'),
      refuses: ({ body }) =>
        first(objects(body['messages']), ({ content }, at) =>
          objects(content).length === 0
            ? `The content field in the Message object at messages.${at} is empty. Add a ContentBlock object to the content field and try again.`
            : undefined,
        ),
    },
    {
      name: 'roles alternate',
      source: github('langchain-ai/langchain-aws#130'),
      refuses: ({ body }) =>
        first(objects(body['messages']), ({ role }, at) =>
          role === objects(body['messages'])[at - 1]?.['role']
            ? 'A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.'
            : undefined,
        ),
    },
    {
      name: 'failures have words',
      source: github('aws-samples/sample-multi-agent-orchestration-chat-on-agentcore#15'),
      refuses: (request) =>
        first(blocksOf(request), ({ block: { toolResult }, at, index }) =>
          isJson(toolResult) && toolResult['status'] === 'error' && objects(toolResult['content']).length === 0
            ? `The content field at messages.${at}.content.${index}.toolResult cannot be empty when status value is error.`
            : undefined,
        ),
    },
  ],
  error: ({ message }) => ({ message }),
  dialect: (request) =>
    request.path.startsWith(`/model/${encodeURIComponent(modelId)}/converse`) ? dialect(request) : undefined,
  api: 'amazon-bedrock',
  modelId,
  base: '',
}
