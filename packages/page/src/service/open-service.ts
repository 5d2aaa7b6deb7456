import { createClient, type Client } from '@inlay/client'
import { conversationCalls, placeOf } from '@inlay/client/conversation'
import {
  InlayError,
  isInlayError,
  isJsonObject,
  type BaseFilters,
  type ChatSessionList,
  type ChatSessionSummary,
  type IndexedSources,
  type IngestionFigures,
  type LlmProviders,
  type MinimalPersona,
  type Project,
  type SourceValue,
  type UserInfo,
  type ValidTags,
} from '@inlay/protocol'
import type { LocalModels } from '@inlay/protocol/administration'
import { ownDocumentationSet } from '../own-documentation-set.ts'
import { hasQuote } from '../sources/passage.ts'
import { texts } from '../texts/texts.ts'
import { serviceCalls, type ServiceCalls } from './calls.ts'
import { listedProjects } from './listed-projects.ts'
import type {
  AnswerFilters,
  AnsweringModel,
  ChatListing,
  DocumentCounts,
  FilterValues,
  ListedProject,
  Service,
} from './service.ts'

/** A service that took the key, and the model that answers there, named as what it is. */
export interface OpenService {
  readonly service: Service
  readonly model: AnsweringModel
  /** Agents that can answer; the first is the assistant itself. */
  readonly agents: readonly MinimalPersona[]
  /** The newest conversations. */
  readonly chats: ChatListing
  readonly projects: readonly ListedProject[]
  /** Documents by state; null if the key lacks the permission. */
  readonly counts: DocumentCounts | null
  /** Calls of the routes of the administration; null if the key may not make them. */
  readonly admin: ServiceCalls | null
}

/**
 * Opens the service that serves this page.
 * @throws INVALID_TOKEN when it does not take the key, CONNECTION_ERROR when it is not there
 */
export async function openService(apiKey: string): Promise<OpenService> {
  const baseUrl = document.documentElement.dataset.basePath ?? '/api'
  const start = await readStart(apiKey)
  const isAdmin = start.me.is_superuser
  document.documentElement.dataset.serves = start.version.serves
  const calls = serviceCalls(createClient({ baseUrl, apiKey }), baseUrl, apiKey)
  return {
    service: toService(calls, { apiKey, isAdmin }),
    model: modelOf(start.models),
    agents: start.agents ?? [],
    chats: start.chats === null ? { chats: [], next: null } : listingOf(start.chats, start.pinned ?? []),
    projects: listedProjects(start.projects ?? []),
    counts: start.figures?.documents ?? null,
    admin: isAdmin ? calls : null,
  }
}

/** The answer of a call, or what stands for it where the service refuses the call. A lost connection rejects. */
const orElse = <Answer, Other>(call: Promise<Answer>, other: (error: InlayError) => Other): Promise<Answer | Other> =>
  call.catch((error: unknown) => {
    if (isInlayError(error) && error.code !== 'CONNECTION_ERROR') return other(error)
    throw error
  })

/** Its documents are those of a pair of their own, which a document set names. */
function ownDocumentationOf({
  client,
  send,
}: ServiceCalls): Pick<Service, 'hasOwnDocumentation' | 'removeOwnDocumentation'> {
  const find = async (signal?: AbortSignal): Promise<{ setId: number; pairIds: readonly number[] } | undefined> => {
    const set = (await client.documentSets({ signal })).find(({ name }) => name === ownDocumentationSet)
    return set && { setId: set.id, pairIds: set.cc_pair_summaries.map(({ id }) => id) }
  }
  const remove = (path: string): Promise<unknown> =>
    orElse(send('DELETE', `/manage/admin/${path}`), ({ status }) => {
      if (status !== 404) throw new InlayError('BAD_GATEWAY', { message: texts.frame.notRemoved })
    })
  return {
    hasOwnDocumentation: async (signal) => (await find(signal)) !== undefined,
    async removeOwnDocumentation() {
      const own = await find()
      for (const id of own?.pairIds ?? []) await remove(`cc-pair/${id}`)
      if (own !== undefined) await remove(`document-set/${own.setId}`)
    },
  }
}

/** Asks with what people chose; the effort of reasoning is a setting of the session, so it is pinned before. */
function askOf(client: Client): Service['ask'] {
  const efforts = new Map<string, string | null>()
  return async function* ask(message, options) {
    const { question, files, decision } = message
    const { againId, isResearch, agentId, projectId, settings, signal, onConnectionChange } = options
    const { modelId, secondModelId, temperature, effort, allowedTools, forcedTool } = settings
    let { sessionId } = options
    const creation =
      sessionId === null && (agentId || projectId !== undefined)
        ? { ...(agentId && { persona_id: agentId }), ...(projectId !== undefined && { project_id: projectId }) }
        : undefined
    if (effort !== null && sessionId === null) {
      sessionId = await client.sessions.create(creation, { signal })
      yield { chat_session_id: sessionId, incognito: false }
    }
    if (sessionId !== null && effort !== (efforts.get(sessionId) ?? null)) {
      await client.sessions.pin(sessionId, { reasoningEffort: effort, signal })
      efforts.set(sessionId, effort)
    }
    const filters = filtersOf(settings.filters)
    yield* client.send(
      {
        message: question,
        chat_session_id: sessionId,
        ...placeOf(message, options),
        ...(againId === null && files.length > 0 && { file_descriptors: files.map(({ id }) => ({ id })) }),
        ...(isResearch && { deep_research: true }),
        ...(sessionId === null && creation && { chat_session_info: creation }),
        // Research and repeated questions use a single model.
        ...(secondModelId !== null &&
          !isResearch &&
          decision === undefined &&
          againId === null && {
            llm_overrides: [modelId, secondModelId].map((id) => ({ model_configuration_id: id, temperature })),
          }),
        ...((modelId !== null || temperature !== null) && {
          llm_override: { model_configuration_id: modelId, temperature },
        }),
        ...(allowedTools !== null && { allowed_tool_ids: allowedTools }),
        ...(forcedTool !== null && { forced_tool_id: forcedTool }),
        ...(filters !== null && { internal_search_filters: filters }),
        origin: 'webapp',
      },
      { signal, onConnectionChange },
    )
  }
}

/** Filters as the service takes them; null when nothing is filtered. */
export function filtersOf({ sources, sets, tags, days }: AnswerFilters): BaseFilters | null {
  const filters: BaseFilters = {
    // The service named them.
    ...(sources.length > 0 && { source_type: sources as SourceValue[] }),
    ...(sets.length > 0 && { document_set: sets }),
    ...(tags.length > 0 && { tags: tags.map(({ key, value }) => ({ tag_key: key, tag_value: value })) }),
    ...(days !== null && { time_cutoff: new Date(Date.now() - days * 86_400_000).toISOString() }),
  }
  return Object.keys(filters).length === 0 ? null : filters
}

/** @param key.isAdmin whether it may ask for figures and change models: a refused request is an error in the console */
function toService(
  calls: ServiceCalls,
  { apiKey, isAdmin }: { readonly apiKey: string; readonly isAdmin: boolean },
): Service {
  const { client, get, send } = calls
  return {
    ask: askOf(client),
    ...conversationCalls(client),
    ...chatsOf(client),
    filterValues: (tagWords, signal) => filterValuesOf(calls, tagWords, signal),
    ...ownDocumentationOf(calls),
    localModels: async (signal) =>
      isAdmin ? orElse(get<LocalModels>('/admin/local-models', signal), () => null) : null,
    chooseLocalModel: (choice) =>
      orElse(send<LocalModels>('PUT', '/admin/local-models', { choice }), () => {
        throw new InlayError('BAD_GATEWAY', { message: texts.frame.modelUnchanged })
      }),
    model: async () => modelOf((await readStart(apiKey)).models),
    agents: async () => (await readStart(apiKey)).agents ?? [],
    projects: client.projects,
    async uploadTo(projectId, file) {
      const { rejected_files: rejected } = await client.files.upload([file], { projectId })
      const [refused] = rejected
      if (refused !== undefined) throw new InlayError('INVALID_INPUT', { message: refused.reason })
    },
    async upload(file) {
      const { user_files: files, rejected_files: rejected } = await client.files.upload([file])
      const [taken] = files
      if (taken !== undefined) return { id: taken.file_id, name: taken.name }
      return { refusal: rejected[0]?.reason ?? texts.frame.fileRefused }
    },
    file: (fileId) => client.files.content(fileId),
    documents: (query) => client.documents({ order: 'newest', details: true, ...query }),
    documentSets: async (signal) => (await client.documentSets({ signal })).map(({ id, name }) => ({ id, name })),
    counts: async (signal) => (isAdmin ? (await client.figures({ signal })).documents : null),
    async notices(signal) {
      if (!isAdmin) return []
      return (
        await orElse(get<{ notices: readonly string[] }>('/service-api/notices', signal), () => ({ notices: [] }))
      ).notices
    },
    async passage(title, text) {
      // The text itself finds its passage best, and no model is asked for other words.
      const { results } = await client.search({ query: text.slice(0, 2000), skip_query_expansion: true })
      return results.find((result) => result.title === title && hasQuote(result.content, text))?.content ?? null
    },
    documentChunks: (documentId, first, limit) => client.documentChunks(documentId, { first, limit }),
    async search(text, signal) {
      const query = { query: text.slice(0, 2000), skip_query_expansion: true, include_ranking: true }
      const { results } = await client.search(query, { signal })
      return results
    },
    async ingest({ id, title, text }) {
      await client.ingest({ id, semantic_identifier: title, source: 'file', sections: [{ text }], metadata: {} })
    },
    ingestFile: async (file, id) => void (await client.ingestFile(file, { id })),
    hasDocument: async (id) => (await client.documents({ documentId: id, limit: 1 })).documents.length > 0,
    requeue: (documentId) => client.requeue(documentId),
    changeTags: (documentId, change) => client.changeMetadata(documentId, changeOf(change)),
    async remove(documentId) {
      // Somebody else may have been faster.
      await orElse(client.deleteDocument(documentId), (error) => {
        if (error.code !== 'DOCUMENT_NOT_FOUND') throw error
      })
    },
  }
}

/** A tag with one value is a text, as it is in most documents. */
const changeOf = (
  change: Readonly<Record<string, readonly string[] | null>>,
): Record<string, string | string[] | null> =>
  Object.fromEntries(
    Object.entries(change).map(([key, values]) => [key, values?.length === 1 ? values[0]! : values && [...values]]),
  )

/** Most tags that are offered at once. */
const maxTags = 12

async function filterValuesOf(
  { client, get }: ServiceCalls,
  tagWords: string,
  signal: AbortSignal,
): Promise<FilterValues> {
  const tagQuery = new URLSearchParams({ match_pattern: tagWords, limit: String(maxTags) })
  const [{ sources }, sets, { tags }] = await Promise.all([
    orElse(get<IndexedSources>('/manage/indexed-sources', signal), () => ({ sources: [] })),
    client.documentSets({ signal }),
    orElse(get<ValidTags>(`/query/valid-tags?${tagQuery}`, signal), () => ({ tags: [] })),
  ])
  return {
    sources,
    sets: sets.map(({ name }) => name),
    tags: tags.map(({ tag_key: key, tag_value: value }) => ({ key, value })),
  }
}

type ChatCalls = 'chat' | 'sharedChat' | 'share' | 'chats' | 'rename' | 'removeChat' | 'restoreChat' | 'setPinned'

/** A listing continues before the time of its last chat, a search on its next page. */
function chatsOf(client: Client): Pick<Service, ChatCalls> {
  return {
    chat: (sessionId) => client.sessions.get(sessionId),
    sharedChat: (sessionId, signal) => client.sessions.get(sessionId, { shared: true, signal }),
    share: (sessionId, isShared) => client.sessions.share(sessionId, isShared ? 'public' : 'private'),
    async chats(words, before) {
      if (words === '') {
        const list = client.sessions.list({ ...(before !== null && { before }) })
        const [page, pinned] = await Promise.all([list, before === null ? client.sessions.listPinned() : []])
        return listingOf(page, pinned)
      }
      const page = before === null ? 1 : Number(before)
      const search = client.sessions.search(words, { page, limit: 50 })
      const [{ groups, next_page: next }, listed] = await Promise.all([search, client.sessions.listPinned()])
      const pinned = new Set(listed.map(({ id }) => id))
      const chats = groups
        .flatMap((group) => group.chats)
        .map(({ id, name, time_created: time, match }) => ({
          id,
          name,
          time,
          isPinned: pinned.has(id),
          ...(match && { match: { messageId: match.message_id, text: match.text } }),
        }))
      return { chats, next: next === null ? null : String(next) }
    },
    rename: async (sessionId, name) => void (await client.sessions.rename(sessionId, name)),
    removeChat: (sessionId) => client.sessions.remove(sessionId),
    restoreChat: (sessionId) => client.sessions.restore(sessionId),
    setPinned: (sessionId, isPinned) => client.sessions.setPinned(sessionId, isPinned),
  }
}

/** Everything the first view needs, in one response; null for what the key may not read. */
interface Start {
  readonly me: UserInfo
  readonly version: { readonly serves: string }
  readonly models: LlmProviders | null
  readonly agents: readonly MinimalPersona[] | null
  readonly chats: ChatSessionList | null
  readonly pinned: readonly ChatSessionSummary[] | null
  readonly projects: readonly Project[] | null
  readonly figures: IngestionFigures | null
}

async function readStart(apiKey: string): Promise<Start> {
  const response = await fetch('/page/start', { headers: { authorization: `Bearer ${apiKey}` } }).catch(
    (cause: unknown) => {
      throw new InlayError('CONNECTION_ERROR', { cause })
    },
  )
  if (response.status === 401) throw new InlayError('INVALID_TOKEN')
  const start: unknown = await response.json().catch(() => null)
  if (!response.ok || !isJsonObject(start) || !isJsonObject(start['me']))
    throw new InlayError('BAD_GATEWAY', { message: texts.frame.notUnderstood })
  // Page and server have the same version.
  return start as unknown as Start
}

function listingOf(
  { sessions, has_more: hasMore }: ChatSessionList,
  pinned: readonly ChatSessionSummary[],
): ChatListing {
  const ids = new Set(pinned.map(({ id }) => id))
  const others = sessions.filter(({ id }) => !ids.has(id))
  const chats = [...pinned, ...others].map(({ id, name, time_updated: time }) => ({
    id,
    name,
    time,
    isPinned: ids.has(id),
  }))
  return { chats, next: hasMore ? (sessions.at(-1)?.time_updated ?? null) : null }
}

function modelOf(listing: LlmProviders | null): AnsweringModel {
  const { providers = [], default_text: chosen } = listing ?? {}
  const provider = providers.find(({ id }) => id === chosen?.provider_id)
  const model = provider?.model_configurations.find(({ name }) => name === chosen?.model_name)
  const all = providers.flatMap(({ id: providerId, provider: kind, model_configurations: models }) =>
    models
      .filter(({ is_visible: isVisible }) => isVisible)
      .map(({ id, name, display_name: shown, supported_reasoning_efforts: efforts }) => ({
        id,
        name: shown ?? name,
        efforts,
        isDefault: providerId === chosen?.provider_id && name === chosen?.model_name,
        hasTemperature: kind !== 'extractive',
      })),
  )
  if (provider === undefined || model === undefined) return { name: texts.frame.noModel, canResearch: false, all }
  const name = model.display_name ?? model.name
  if (provider.provider === 'extractive') return { name: texts.frame.builtInModel(name), canResearch: false, all }
  return { name: `${name} (${provider.provider_display_name})`, canResearch: true, all }
}
