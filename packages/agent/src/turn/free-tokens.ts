import type { Services } from '../contracts/services.ts'
import type { Principal } from '@inlay/protocol'
import type { Instructions } from '../contracts/coming-turn.ts'
import type { BranchHistory, ConversationStore, SessionRecord } from '../contracts/conversation-store.ts'
import type { ModelProvider } from '../contracts/model.ts'
import { maxPromptTokens, promptTokens } from '../prompt/context-window.ts'
import { historyLimits } from '../prompt/history.ts'
import { makeTurnPrompt } from '../prompt/turn-prompt.ts'
import type { Actions } from '../tool-calls/registry.ts'
import { writeInstructions } from './hooks.ts'
import { overrideOfAnswer } from '../model/override-precedence.ts'
import {
  findTurnContext,
  noContextFiles,
  offerActions,
  readContextFiles,
  type TurnContextParts,
  type TurnPlace,
} from './turn-context.ts'

export interface FreeTokensOptions extends Pick<Services, 'now' | 'onError'> {
  readonly conversations: Pick<ConversationStore, 'session' | 'branch'>
  readonly models: ModelProvider
  readonly actions: Actions
  readonly contextParts: TurnContextParts
  readonly systemPrompt: Instructions | undefined
}

/** The conversation that the next message belongs to. */
interface NextMessage extends Pick<TurnPlace, 'personaId' | 'projectId' | 'hasFiles'> {
  /** Null: a new session. */
  readonly session: Pick<SessionRecord, 'modelOverride' | 'temperature'> | null
  /** Previous messages that fit into a context window of this size. */
  readonly history: (contextTokens: number) => Promise<BranchHistory>
}

/** Counts the tokens left for a next message, by building its prompt like any other. */
export async function countFreeTokens(
  target: { readonly sessionId: string } | { readonly personaId: number },
  caller: Principal,
  options: FreeTokensOptions,
): Promise<number> {
  const { models, actions, contextParts, now } = options
  const { personaId, projectId, hasFiles, session, history } = await toNextMessage(target, caller, options)
  const place = { personaId, projectId, hasFiles, descriptors: [], filters: null, caller }
  const unwritten = await findTurnContext(place, contextParts)
  const sessionId = 'sessionId' in target ? target.sessionId : null
  const coming = { caller, message: '', sessionId, personaId, projectId, origin: 'unset', filters: null }
  const { context, systemPrompt } = await writeInstructions(options.systemPrompt, unwritten, coming, options.onError)
  const model = await models.resolve(overrideOfAnswer(null, session, context.persona))
  const room = { contextTokens: model.contextTokens, userText: '' }
  const contextFiles = context.files.length === 0 ? noContextFiles : await readContextFiles(context, room, contextParts)
  const usable = offerActions(await actions.available({ caller }), contextFiles, context, contextParts)
  const { prompt } = await makeTurnPrompt(
    {
      files: contextParts.files,
      context,
      contextFiles,
      opened: { ...(await history(model.contextTokens)), userText: '', files: [] },
      request: { additional_context: null, include_citations: true },
      model,
      actions: usable,
      systemPrompt,
      time: now(),
    },
    AbortSignal.timeout(60_000),
  )
  return Math.max(0, maxPromptTokens(model.contextTokens, usable) - promptTokens(prompt))
}

async function toNextMessage(
  place: { readonly sessionId: string } | { readonly personaId: number },
  caller: Principal,
  { conversations }: FreeTokensOptions,
): Promise<NextMessage> {
  if ('personaId' in place) {
    const history = async (): Promise<BranchHistory> => ({ summary: null, summaryFiles: [], messages: [] })
    return { personaId: place.personaId, projectId: null, hasFiles: false, session: null, history }
  }
  const session = await conversations.session(place.sessionId, caller.id)
  const { personaId = 0, projectId = null, hasFiles = false } = session
  return {
    personaId,
    projectId,
    hasFiles,
    session,
    history: (contextTokens) => conversations.branch(session.id, null, historyLimits(contextTokens)),
  }
}
