import type { LanguageModelV4Message } from '@ai-sdk/provider'
import { InlayError, isInlayError, isJsonObject, readJson, type SendMessageRequest } from '@inlay/protocol'
import type { Action } from '../contracts/action.ts'
import type { AnswerParameters, ClientFile, ClientStep, ClientTool, ClientTurn } from '../contracts/client-turn.ts'
import type { ConversationStore } from '../contracts/conversation-store.ts'
import type { FileSection } from '../contracts/file-store.ts'
import { createRuns, type Runs, type RunsOptions } from '../run/live-runs.ts'
import { createCallIds, forOtherModel, toExchange } from '../prompt/model-steps.ts'
import { createPausedTurns, type PausedTurn, type PausedTurns } from './paused-turns.ts'
import type { ChosenActions } from '../tool-calls/registry.ts'

export type DocumentReader = (file: Pick<ClientFile, 'name' | 'mediaType' | 'bytes'>) => Promise<{
  readonly sections: readonly FileSection[]
}>

export interface ClientTurns {
  readonly runs: Runs
  readonly paused: PausedTurns
  readonly readDocument: DocumentReader | undefined
  /** Ids of answers that are not stored; they have no others, and are below those of stored ones. */
  readonly nextId: () => number
}

export function createClientTurns(options: RunsOptions, readDocument?: DocumentReader): ClientTurns {
  let last = 0
  // Nobody can resume them.
  const runs = createRuns({ ...options, resumableMs: 0 })
  return { runs, paused: createPausedTurns(options.now), readDocument, nextId: () => --last }
}

/** The request of a client's turn: a session that it names by itself is continued, and JSON has no citations. */
export async function clientRequest(
  request: SendMessageRequest,
  { sessionId, parameters }: ClientTurn,
  conversations: ConversationStore,
  callerId: string,
): Promise<SendMessageRequest> {
  const isProse = parameters?.responseFormat === undefined
  const citing = { ...request, include_citations: request.include_citations && isProse }
  if (sessionId === undefined || request.chat_session_id !== null) return citing
  const session = await conversations.session(sessionId, callerId).catch((error: unknown) => {
    if (isInlayError(error) && error.code === 'SESSION_NOT_FOUND') return undefined
    throw error
  })
  return session ? { ...citing, chat_session_id: session.id, chat_session_info: null } : citing
}

/** Actions for the tools of a client. Nothing runs them: their calls end the answer. */
const clientActions = new WeakSet<Action>()

export const isOfClient = (action: Action): boolean => clientActions.has(action)

function toAction({ name, description = '', parameters }: ClientTool, index: number): Action {
  const schema = { type: 'object', properties: {}, ...parameters }
  const action: Action = {
    id: -1 - index,
    name,
    displayName: name,
    description,
    builtIn: null,
    input: {
      '~standard': {
        version: 1,
        vendor: 'inlay',
        validate: (value: unknown) => ({ value }),
        jsonSchema: { input: () => schema },
      },
    },
    run: () => Promise.reject(new InlayError('UNSUPPORTED', { message: 'The client runs this tool.' })),
  }
  clientActions.add(action)
  return action
}

/**
 * The actions of a client's turn: its own tools beside Inlay's, whose place they take where a name is the same.
 * @throws VALIDATION_ERROR when `toolChoice` names no tool of the client
 */
export function withClientTools({ actions, forced }: ChosenActions, client: ClientTurn): ChosenActions {
  const { tools = [], toolChoice = 'auto', isStored = true } = client
  if (toolChoice === 'none') return { actions: [], forced: [] }
  const own = tools.map(toAction)
  const names = new Set(tools.map(({ name }) => name))
  // What is remembered of a person would be stored.
  const others = actions.filter(({ name, builtIn }) => !names.has(name) && (isStored || builtIn !== 'MemoryTool'))
  const all = [...others, ...own]
  if (typeof toolChoice === 'string')
    return { actions: all, forced: toolChoice === 'required' && own.length > 0 ? own : forced }
  const chosen = own.filter(({ name }) => name === toolChoice.name)
  if (chosen.length > 0) return { actions: all, forced: chosen }
  throw new InlayError('VALIDATION_ERROR', {
    message: `tool_choice names "${toolChoice.name}", which is none of the tools.`,
    data: { param: 'tool_choice' },
  })
}

/** What an answer goes on from: its earlier steps as messages, and the turn that ended with the last of them. */
export interface EarlierSteps {
  readonly messages: readonly LanguageModelV4Message[]
  /** Undefined where nothing is known of it any more. */
  readonly paused: PausedTurn | undefined
}

export interface ClientContext extends EarlierSteps, Pick<ClientTurn, 'instructions' | 'maxPassages'> {
  readonly parameters: AnswerParameters
  readonly pausedTurns: PausedTurns
  /** Whether the client keeps the conversation. */
  readonly isOwn: boolean
  readonly isStored: boolean
}

/** Reads the steps that a client gives back: as this process remembers them, else as the client does. */
export function readSteps(
  steps: readonly ClientStep[],
  { callerId, model, turns }: { readonly callerId: string; readonly model: string; readonly turns: PausedTurns },
): EarlierSteps {
  const knownOf = ({ calls }: ClientStep): PausedTurn | undefined =>
    calls.map(({ id }) => turns.get(id, callerId)).find((turn) => turn !== undefined)
  // Its messages begin with the steps before it.
  const last = steps.findLastIndex((step) => knownOf(step) !== undefined)
  const step = steps[last]
  const paused = step && knownOf(step)
  const results = new Map(step?.calls.map(({ id, result }) => [id, result]))
  const answered = paused?.calls.map(({ clientId, ...call }) =>
    clientId === undefined ? call : { ...call, result: results.get(clientId) || noResult },
  )
  const own = paused && answered ? [...paused.messages, ...toExchange(paused.content, answered)] : []
  const before = paused?.model === model ? own : forOtherModel(own)
  const withIds = createCallIds(before)
  const others = steps.slice(last + 1).flatMap(({ text, calls }) => {
    const content = text === '' ? [] : [{ type: 'text' as const, text }]
    const given = calls.map(({ name, arguments: json, result }) => {
      // The ids that clients know are too long for some providers.
      return { id: '', name, input: isJsonObject(readJson(json)) ? json : '{}', result: result || noResult }
    })
    return toExchange(content, withIds(given))
  })
  return { messages: [...before, ...others], paused }
}

const noResult = '(no result)'
