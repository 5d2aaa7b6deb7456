import { InlayError, isJsonObject } from '@inlay/protocol'
import type { HostAgent, ResponderPart, ResponderTurn } from '@inlay/agent'
import { toParts } from './chunks.ts'

/** The part of an `Agent` of `@mastra/core` that is used here. */
export interface MastraAgent {
  readonly id: string
  readonly name: string
  getDescription?(): string
  hasOwnMemory?(): boolean
  // Mastra types these by the agent's own tools and schemas, which no common type fits.
  // oxlint-disable-next-line typescript/no-explicit-any
  stream(messages: any, options?: any): Promise<{ readonly fullStream: AsyncIterable<any> }>
}

/** Creates an agent of Mastra at its first message. */
export type LazyMastraAgent = () => MastraAgent | Promise<MastraAgent>

export interface MastraAgentOptions extends Partial<
  Pick<HostAgent, 'id' | 'name' | 'description' | 'starterMessages'>
> {
  /** Inlay's actions that the agent gets as tools. Default: `['internal_search']`. */
  readonly actions?: HostAgent['actions']
  /**
   * Options of each `agent.stream()`, such as `maxSteps` or `structuredOutput`. Messages, memory, abort signal and
   * request context are given by Inlay.
   */
  readonly stream?: Readonly<Record<string, unknown>>
}

/**
 * Makes an agent of Mastra selectable: `createInlay({ agents: [mastraAgent(agent)] })`. The agent keeps its own
 * instructions, model, tools, memory, processors, workflows and tracing. With a memory of its own it gets the newest
 * message, in a thread per session; without one it gets the whole conversation. Its request context holds `caller` (the
 * principal), `sessionId` and `messageId`.
 * @param agent the agent, or a function that creates it at its first message, so that Mastra is not loaded before
 * @throws VALIDATION_ERROR for a function without a name in the options
 */
export function mastraAgent(agent: MastraAgent | LazyMastraAgent, options: MastraAgentOptions = {}): HostAgent {
  const known = typeof agent === 'function' ? undefined : agent
  const { name = known?.name, description = known?.getDescription?.() ?? '' } = options
  if (name === undefined) {
    throw new InlayError('VALIDATION_ERROR', { message: 'An agent that is created at first use needs a name here.' })
  }
  let loaded: Promise<MastraAgent> | undefined
  const load = async (): Promise<MastraAgent> => {
    loaded ??= Promise.resolve(typeof agent === 'function' ? agent() : agent)
    return loaded.catch((error: unknown) => {
      loaded = undefined
      throw error
    })
  }
  return {
    ...(options.id === undefined ? {} : { id: options.id }),
    name,
    description,
    ...(options.starterMessages ? { starterMessages: options.starterMessages } : {}),
    actions: options.actions ?? ['internal_search'],
    respond: (turn) => respond(load, options.stream ?? {}, turn),
  }
}

async function* respond(
  load: () => Promise<MastraAgent>,
  stream: Readonly<Record<string, unknown>>,
  turn: ResponderTurn,
): AsyncGenerator<ResponderPart> {
  const { caller, sessionId, messageId, citing, signal } = turn
  // Mastra is loaded lazily.
  const [agent, { RequestContext }] = await Promise.all([load(), import('@mastra/core/request-context')])
  const hasMemory = agent.hasOwnMemory?.() ?? false
  const messages = hasMemory ? turn.prompt.slice(newestQuestion(turn)) : turn.prompt
  // Mastra does not stop by itself when its consumer leaves.
  const abandoned = new AbortController()
  try {
    const { fullStream } = await agent.stream(messages, {
      ...stream,
      ...(citing === undefined ? {} : { system: citing }),
      ...(turn.tools.length > 0 ? { toolsets: { ...toRecord(stream['toolsets']), inlay: await toTools(turn) } } : {}),
      ...(hasMemory ? { memory: { ...toRecord(stream['memory']), thread: sessionId, resource: caller.id } } : {}),
      requestContext: new RequestContext(Object.entries({ caller, sessionId, messageId })),
      tracingOptions: { metadata: { sessionId, messageId }, ...toRecord(stream['tracingOptions']) },
      abortSignal: AbortSignal.any([signal, abandoned.signal]),
    })
    let hasText = false
    for await (const chunk of fullStream) {
      for (const part of toParts(chunk)) {
        hasText ||= part.type === 'text'
        yield part
      }
      // Usually the text is already the JSON, but a separate structuring model writes no text.
      if (!hasText && chunk.type === 'object-result') yield { type: 'text', delta: JSON.stringify(chunk.object) }
    }
    signal.throwIfAborted()
  } finally {
    abandoned.abort()
  }
}

/** Index of the newest user message, with the user messages right before it: its files and context. */
function newestQuestion({ prompt }: ResponderTurn): number {
  let index = prompt.findLastIndex(({ role }) => role === 'user')
  while (prompt[index - 1]?.role === 'user') index--
  return Math.max(0, index)
}

async function toTools({ tools }: ResponderTurn): Promise<Record<string, unknown>> {
  const { createTool } = await import('@mastra/core/tools')
  return Object.fromEntries(
    tools.map(({ name, description, inputSchema, run }) => [
      name,
      createTool({
        id: name,
        description,
        // Inlay checks the arguments itself, so that every call ends in one place.
        inputSchema: {
          '~standard': {
            version: 1,
            vendor: 'inlay',
            validate: (value: unknown) => ({ value }),
            jsonSchema: { input: () => inputSchema, output: () => inputSchema },
          },
        },
        execute: async (input: unknown, context) => run(context.agent?.toolCallId ?? '', input),
      }),
    ]),
  )
}

const toRecord = (value: unknown): Record<string, unknown> => (isJsonObject(value) ? value : {})
