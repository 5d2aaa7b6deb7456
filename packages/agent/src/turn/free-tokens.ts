import type { Principal } from '@inlay/protocol'
import { maxPromptTokens, promptTokens } from '../prompt/context-window.ts'
import { historyLimits } from '../prompt/history.ts'
import { makeTurnPrompt } from './turn-prompt.ts'
import { writeInstructions } from './hooks.ts'
import { overrideOfAnswer } from '../model/override-precedence.ts'
import { findTurnContext, offerActions, readContextFiles } from './turn-context.ts'
import type { TurnParts } from './turn-parts.ts'

/** Counts the tokens left for a next message, by building its prompt like any other. */
export async function countFreeTokens(
  target: { readonly sessionId: string } | { readonly personaId: number },
  caller: Principal,
  parts: TurnParts,
): Promise<number> {
  const { conversations } = parts
  const session = 'sessionId' in target ? await conversations.session(target.sessionId, caller.id) : null
  const personaId = 'personaId' in target ? target.personaId : (session?.personaId ?? 0)
  const { projectId = null, hasFiles = false } = session ?? {}
  const place = { personaId, projectId, hasFiles, descriptors: [], filters: null, caller }
  const unwritten = await findTurnContext(place, parts)
  const sessionId = session?.id ?? null
  const coming = { caller, message: '', sessionId, personaId, projectId, origin: 'unset', filters: null }
  const { context, systemPrompt } = await writeInstructions(parts.systemPrompt, unwritten, coming, parts.onError)
  const model = await parts.models.resolve(overrideOfAnswer(null, session, context.persona))
  const { contextTokens } = model
  const contextFiles = await readContextFiles(context, contextTokens, '', parts)
  const actions = offerActions(await parts.actions.available({ caller }), contextFiles, context, parts)
  const branch = session
    ? await conversations.branch(session.id, null, historyLimits(contextTokens))
    : { summary: null, summaryFiles: [], messages: [] }
  const opened = { ...branch, userText: '', files: [] }
  const request = { additional_context: null, include_citations: true }
  const { prompt } = await makeTurnPrompt(
    { caller, context, contextFiles, opened, request, systemPrompt },
    parts,
    { model, actions },
    AbortSignal.timeout(60_000),
  )
  return Math.max(0, maxPromptTokens(contextTokens, actions) - promptTokens(prompt))
}
