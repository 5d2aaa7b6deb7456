import {
  InlayError,
  type LlmOverride,
  type Principal,
  type SendMessageRequest,
  parseWith,
  sendMessageRequestSchema,
  type SendMessageInput,
} from '@inlay/protocol'
import type { ClientTurn } from '../contracts/client-turn.ts'
import type { SessionRecord } from '../contracts/conversation-store.ts'
import type { ResolvedModel } from '../contracts/model.ts'
import { admitResearch, checkOneModel, checkSearches, researchActions } from '../research/admission.ts'
import { withClientTools } from './client-turn.ts'
import { askBefore, writeInstructions } from './hooks.ts'
import { isSmall, loadHelp } from './search-first.ts'
import { overrideOfAnswer, toReasoningEffort } from '../model/override-precedence.ts'
import { checkSessionSettings, findTurnContext, offerActions, readContextFiles } from './turn-context.ts'
import type { AskedPlan, TurnContext, TurnParts, TurnPlan } from './turn-parts.ts'

export async function planTurn(
  parts: TurnParts,
  request: SendMessageRequest,
  caller: Principal,
  client?: ClientTurn,
): Promise<TurnPlan> {
  const overrides = toOverrides(request)
  const { chat_session_id: sessionId } = request
  const session = sessionId === null ? null : await parts.conversations.session(sessionId, caller.id)
  const context = await findContext(parts, request, session, { caller, personaId: client?.personaId })
  if (context.persona.hostAgent) checkHostRequest(request)
  const resolved = await Promise.all(
    overrides.map(async (override) => {
      const isChosen = session !== null || context.persona.model !== null
      const wanted = isChosen ? overrideOfAnswer(override, session, context.persona) : override
      const model = await parts.models.resolve(wanted)
      if (!model.observed?.ask) return model
      // The server states it, such as its context window.
      await model.observed.ask()
      return parts.models.resolve(wanted)
    }),
  )
  const { grounding, comparesCitations } = context.persona
  const models: ResolvedModel[] = []
  for (const each of resolved) {
    const model = { ...each, ...(grounding && { grounding }) }
    const compares = comparesCitations ?? model.comparesCitations ?? (isSmall(model) || model.cites === false)
    const isHelped = compares || (isSmall(model) && !context.persona.hostAgent)
    // Fails with a status where the help is left out.
    const help = isHelped ? await loadHelp(model, parts.smallModels) : undefined
    models.push({ ...model, compareCitations: compares ? help?.compareCitations : undefined })
  }
  const [model] = models
  const coming = {
    caller,
    message: request.message,
    sessionId: session?.id ?? null,
    personaId: context.persona.id,
    projectId: (session ? session.projectId : request.chat_session_info?.project_id) ?? null,
    origin: request.origin,
  }
  const research =
    request.deep_research && model ? await admitResearch(parts.research, coming, model, parts.onError) : undefined
  // Research cites what its agents found; a file numbered in the prompt would share its number with one of those
  // documents.
  const contextTokens = research ? 0 : Math.min(...models.map((model) => model.contextTokens))
  const contextFiles = await readContextFiles(context, contextTokens, request.message, parts)
  const choice = { allowedIds: request.allowed_tool_ids, forcedId: request.forced_tool_id }
  const asker = { caller, mcpHeaders: request.mcp_headers ?? {} }
  const chosen = await parts.actions.choose(asker, choice, (available) => {
    const offered = offerActions(available, contextFiles, context, parts)
    const { hostAgent } = context.persona
    if (hostAgent)
      return hostAgent.actions === 'all' ? offered : offered.filter(({ name }) => hostAgent.actions?.includes(name))
    return research ? researchActions(offered) : offered
  })
  // Neither hands calls over.
  const isByModel = !research && !context.persona.hostAgent
  const usable = client && isByModel ? withClientTools(chosen, client) : chosen
  if (research) checkSearches(usable.actions, usable.forced[0])
  return {
    request,
    session,
    context,
    contextFiles,
    overrides,
    models,
    reasoning: session ? toReasoningEffort(session.reasoningEffort) : undefined,
    research,
    usable,
  }
}

/** A host's agent decides itself which tools it calls and which model it asks. */
function checkHostRequest(request: SendMessageRequest): void {
  const isForced = (request.forced_tool_id ?? 0) !== 0
  if (!request.deep_research && !isForced && (request.llm_overrides ?? []).length < 2) return
  throw new InlayError('INVALID_INPUT', {
    message: 'This agent takes no deep_research, no forced_tool_id and no llm_overrides.',
  })
}

/** The override of each answer: two or three entries give parallel answers, fewer count as none. */
function toOverrides(request: SendMessageRequest): readonly (LlmOverride | null)[] {
  const several = request.llm_overrides ?? []
  if (request.deep_research) checkOneModel(request)
  if (several.length < 2) return [request.llm_override]
  if (!request.stream) {
    throw new InlayError('INVALID_INPUT', { message: 'Several models answer on a stream only: send stream true.' })
  }
  if (several.length > 3) {
    throw new InlayError('VALIDATION_ERROR', { message: 'llm_overrides takes three models at most.' })
  }
  return several
}

async function findContext(
  parts: TurnParts,
  request: SendMessageRequest,
  session: SessionRecord | null,
  { caller, personaId }: { readonly caller: Principal; readonly personaId: number | undefined },
): Promise<TurnContext> {
  const { chat_session_info: info, internal_search_filters: filters } = request
  if (info) await checkSessionSettings(info, caller, parts)
  const place = {
    personaId: personaId ?? session?.personaId ?? info?.persona_id ?? 0,
    projectId: (session ? session.projectId : info?.project_id) ?? null,
    descriptors: request.file_descriptors,
    hasFiles: session?.hasFiles ?? false,
    filters,
    caller,
  }
  const context = await findTurnContext(place, parts)
  if (filters) await parts.checkFilters(filters, caller)
  return context
}

export async function askHost(parts: TurnParts, plan: TurnPlan, caller: Principal): Promise<AskedPlan> {
  const { request, session, context } = plan
  const coming = {
    caller,
    message: request.message,
    sessionId: session?.id ?? null,
    personaId: context.persona.id,
    projectId: context.project?.id ?? null,
    origin: request.origin,
    filters: request.internal_search_filters,
  }
  const addition = await askBefore(parts.hooks?.before, coming, parts.onError)
  const contexts = [request.additional_context, addition].filter((text) => text !== null && text !== undefined)
  const joined = contexts.length === 0 ? null : contexts.join('\n\n')
  // Research and agents of the host have prompts of their own.
  const written = plan.research
    ? { systemPrompt: undefined, context: withoutPrompts(context) }
    : context.persona.hostAgent
      ? { systemPrompt: undefined }
      : await writeInstructions(parts.systemPrompt, context, coming, parts.onError)
  return { ...plan, ...written, request: { ...request, additional_context: joined } }
}

function withoutPrompts(context: TurnContext): TurnContext {
  return { ...context, persona: { ...context.persona, systemPrompt: '', taskPrompt: '', replacesBasePrompt: false } }
}

const anySession = '00000000-0000-4000-8000-000000000000'

/** Unlike on the wire, a session id may have any format. @throws VALIDATION_FAILED */
export function readMessage(input: SendMessageInput): SendMessageRequest {
  const id = input.chat_session_id
  if (!id?.trim() || isUuid.test(id)) return parseWith(sendMessageRequestSchema, input, 'body')
  const request = parseWith(sendMessageRequestSchema, { ...input, chat_session_id: anySession }, 'body')
  return { ...request, chat_session_id: id }
}

const isUuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i
