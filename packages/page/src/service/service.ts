import type { Client, DocumentsQuery } from '@inlay/client'
import { conversationCalls, placeOf, type ConversationService, type SentFile } from '@inlay/client/conversation'
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
import type { LocalModelChange, LocalModels } from '@inlay/protocol/administration'
import type { Counts } from './counts.ts'
import { ownDocumentationSet } from '../own-documentation-set.ts'
import { hasQuote } from '../sources/passage.ts'
import { texts } from '../texts/texts.ts'
import type { ServiceCalls } from './calls.ts'

export type AnsweringModel = ReturnType<typeof modelOf>
export type ListedModel = AnsweringModel['all'][number]
export type FilterValues = Awaited<ReturnType<typeof filterValuesOf>>

/** Settings for questions; null and empty lists leave the choice to the service. */
export interface AnswerSettings {
  readonly modelId: number | null
  readonly secondModelId: number | null
  /** 0 to 2. */
  readonly temperature: number | null
  readonly effort: string | null
  readonly allowedTools: readonly number[] | null
  readonly filters: AnswerFilters
}

export interface AnswerFilters {
  readonly sources: readonly string[]
  readonly sets: readonly string[]
  readonly tags: readonly { readonly key: string; readonly value: string }[]
  /** Only documents changed within so many days. */
  readonly days: number | null
}

export const defaultSettings: AnswerSettings = {
  modelId: null,
  secondModelId: null,
  temperature: null,
  effort: null,
  allowedTools: null,
  filters: { sources: [], sets: [], tags: [], days: null },
}

export interface AskHow {
  readonly isResearch: boolean
  /** The agent that answers a new conversation. Default: the assistant itself. */
  readonly agentId?: number | undefined
  /** The project that a new conversation belongs to. Default: none. */
  readonly projectId?: number | undefined
  readonly settings: AnswerSettings
}

export interface AgentAction {
  readonly id: number
  readonly name: string
}

export interface ChatListing {
  readonly chats: readonly ListedChat[]
  /** Names the next page; null on the last. */
  readonly next: string | null
}

export interface ListedChat {
  readonly id: string
  /** "" until it was named. */
  readonly name: string
  /** ISO 8601: of its last message, or, when it was found by words, of its beginning. */
  readonly time: string
  readonly isPinned: boolean
  /** The message that holds the words, and the text around them; absent where nothing was searched, or the name has them. */
  readonly match?: { readonly messageId: number; readonly text: string }
}

export interface TextDocument {
  /** The same id again replaces the document. */
  readonly id: string
  readonly title: string
  readonly text: string
}

/** The Inlay service as the page uses it. Rejects with errors that `toFailure` puts into words. */
export type Service = ReturnType<typeof toService>

/** @param key.isAdmin whether it may ask for figures and change models: a refused request is an error in the console */
export function toService(
  calls: ServiceCalls,
  { apiKey, isAdmin }: { readonly apiKey: string; readonly isAdmin: boolean },
) {
  const { client, get, send } = calls
  return {
    ask: askOf(client),
    ...conversationCalls(client),
    ...chatsOf(client),
    filterValues: (tagWords: string, signal: AbortSignal) => filterValuesOf(calls, tagWords, signal),
    ...ownDocumentationOf(calls),
    /** Models that run on the machine of the server; null if the key may not read them, or the server has a fixed model. */
    localModels: async (signal?: AbortSignal) =>
      isAdmin ? orElse(get<LocalModels>('/admin/local-models', signal), () => null) : null,
    /** Selects one of them, or with null the built-in model; returns the new state. */
    chooseLocalModel: (choice: LocalModelChange['choice']) =>
      orElse(send<LocalModels>('PUT', '/admin/local-models', { choice }), () => {
        throw new InlayError('BAD_GATEWAY', { message: texts.frame.modelUnchanged })
      }),
    model: async () => modelOf((await readStart(apiKey)).models),
    agents: async () => (await readStart(apiKey)).agents ?? [],
    projects: client.projects,
    /** Takes a file for a project. @throws INVALID_INPUT with the reason */
    async uploadTo(projectId: number, file: File): Promise<void> {
      const { rejected_files: rejected } = await client.files.upload([file], { projectId })
      const [refused] = rejected
      if (refused !== undefined) throw new InlayError('INVALID_INPUT', { message: refused.reason })
    },
    async upload(file: File): Promise<SentFile | { readonly refusal: string }> {
      const { user_files: files, rejected_files: rejected } = await client.files.upload([file])
      const [taken] = files
      if (taken !== undefined) return { id: taken.file_id, name: taken.name }
      return { refusal: rejected[0]?.reason ?? texts.frame.fileRefused }
    },
    file: (fileId: string) => client.files.content(fileId),
    /** A page of documents, the newest first and with details unless the query says otherwise. */
    documents: (query: DocumentsQuery & { readonly limit: number }) =>
      client.documents({ order: 'newest', details: true, ...query }),
    documentSets: (signal: AbortSignal) => client.documentSets({ signal }),
    /** How many documents are in each state; null if the key lacks the permission. */
    counts: async (signal?: AbortSignal): Promise<Counts | null> =>
      isAdmin ? (await client.figures({ signal })).documents : null,
    /** Notices for the operator; empty when there are none or the key may not read them. */
    async notices(signal: AbortSignal): Promise<readonly string[]> {
      if (!isAdmin) return []
      return (
        await orElse(get<{ notices: readonly string[] }>('/service-api/notices', signal), () => ({ notices: [] }))
      ).notices
    },
    /** Markdown of the passage of the document with this title that holds this text; null when it is no longer there. */
    async passage(title: string, text: string): Promise<string | null> {
      // The text itself finds its passage best, and no model is asked for other words.
      const { results } = await client.search({ query: text.slice(0, 2000), skip_query_expansion: true })
      return results.find((result) => result.title === title && hasQuote(result.content, text))?.content ?? null
    },
    documentChunks: (documentId: string, first: number, limit: number) =>
      client.documentChunks(documentId, { first, limit }),
    /** Passages that a text finds, best first; no model is asked for other words. */
    async search(text: string, signal: AbortSignal) {
      const query = { query: text.slice(0, 2000), skip_query_expansion: true, include_ranking: true }
      return (await client.search(query, { signal })).results
    },
    async ingest({ id, title, text }: TextDocument): Promise<void> {
      await client.ingest({ id, semantic_identifier: title, source: 'file', sections: [{ text }], metadata: {} })
    },
    ingestFile: async (file: File, id: string) => void (await client.ingestFile(file, { id })),
    hasDocument: async (id: string) => (await client.documents({ documentId: id, limit: 1 })).documents.length > 0,
    /** Puts failed documents back into the queue: one, or all. @returns how many */
    requeue: (documentId?: string) => client.requeue(documentId),
    /** Sets tags of a document by their keys, and removes those that are null; it is indexed again. */
    changeTags: (documentId: string, change: Readonly<Record<string, readonly string[] | null>>) =>
      client.changeMetadata(documentId, changeOf(change)),
    async remove(documentId: string): Promise<void> {
      // Somebody else may have been faster.
      await orElse(client.deleteDocument(documentId), (error) => {
        if (error.code !== 'DOCUMENT_NOT_FOUND') throw error
      })
    },
  }
}

/** The answer of a call, or what stands for it where the service refuses the call. A lost connection rejects. */
const orElse = <Answer, Other>(call: Promise<Answer>, other: (error: InlayError) => Other): Promise<Answer | Other> =>
  call.catch((error: unknown) => {
    if (isInlayError(error) && error.code !== 'CONNECTION_ERROR') return other(error)
    throw error
  })

/** Its documents are those of a pair of their own, which a document set names. */
function ownDocumentationOf({ client, send }: ServiceCalls) {
  const find = async (signal?: AbortSignal): Promise<{ setId: number; pairIds: readonly number[] } | undefined> => {
    const set = (await client.documentSets({ signal })).find(({ name }) => name === ownDocumentationSet)
    return set && { setId: set.id, pairIds: set.cc_pair_summaries.map(({ id }) => id) }
  }
  const remove = (path: string): Promise<unknown> =>
    orElse(send('DELETE', `/manage/admin/${path}`), ({ status }) => {
      if (status !== 404) throw new InlayError('BAD_GATEWAY', { message: texts.frame.notRemoved })
    })
  return {
    /** Whether the project's own documentation is among the documents, and the key may remove it. */
    hasOwnDocumentation: async (signal: AbortSignal): Promise<boolean> => (await find(signal)) !== undefined,
    async removeOwnDocumentation(): Promise<void> {
      const own = await find()
      for (const id of own?.pairIds ?? []) await remove(`cc-pair/${id}`)
      if (own !== undefined) await remove(`document-set/${own.setId}`)
    },
  }
}

/** Asks with what people chose; the effort of reasoning is a setting of the session, so it is pinned before. */
function askOf(client: Client): ConversationService<AskHow>['ask'] {
  const efforts = new Map<string, string | null>()
  return async function* ask(message, options) {
    const { question, files, decision } = message
    const { againId, isResearch, agentId, projectId, settings, signal, onConnectionChange } = options
    const { modelId, secondModelId, temperature, effort, allowedTools } = settings
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

/** A tag with one value is a text, as it is in most documents. */
const changeOf = (
  change: Readonly<Record<string, readonly string[] | null>>,
): Record<string, string | string[] | null> =>
  Object.fromEntries(
    Object.entries(change).map(([key, values]) => [key, values?.length === 1 ? values[0]! : values && [...values]]),
  )

const maxTags = 12

async function filterValuesOf({ client, get }: ServiceCalls, tagWords: string, signal: AbortSignal) {
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

function chatsOf({ sessions }: Client) {
  return {
    /** A shared conversation of anybody, in the form that others see. */
    sharedChat: (sessionId: string, signal: AbortSignal) => sessions.get(sessionId, { shared: true, signal }),
    share: (sessionId: string, isShared: boolean) => sessions.share(sessionId, isShared ? 'public' : 'private'),
    /**
     * A page of conversations: pinned ones first, then the newest; with words those that hold them, newest first. A
     * listing continues before the time of its last chat, a search on its next page.
     * @param before `next` of the page before
     */
    async chats(words: string, before: string | null): Promise<ChatListing> {
      if (words === '') {
        const list = sessions.list({ ...(before !== null && { before }) })
        const [page, pinned] = await Promise.all([list, before === null ? sessions.listPinned() : []])
        return listingOf(page, pinned)
      }
      const page = before === null ? 1 : Number(before)
      const search = sessions.search(words, { page, limit: 50 })
      const [{ groups, next_page: next }, listed] = await Promise.all([search, sessions.listPinned()])
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
    rename: (sessionId: string, name: string) => sessions.rename(sessionId, name),
    removeChat: (sessionId: string) => sessions.remove(sessionId),
    restoreChat: (sessionId: string) => sessions.restore(sessionId),
    setPinned: (sessionId: string, isPinned: boolean) => sessions.setPinned(sessionId, isPinned),
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

export async function readStart(apiKey: string): Promise<Start> {
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

export function listingOf(
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

export function modelOf(listing: LlmProviders | null) {
  const { providers = [], default_text: chosen } = listing ?? {}
  const provider = providers.find(({ id }) => id === chosen?.provider_id)
  const model = provider?.model_configurations.find(({ name }) => name === chosen?.model_name)
  const all = providers.flatMap(({ id: providerId, provider: kind, model_configurations: models }) =>
    models
      .filter(({ is_visible: isVisible }) => isVisible)
      .map(({ id, name, display_name: shown, supported_reasoning_efforts: efforts }) => ({
        id,
        name: shown ?? name,
        /** Empty: it has no such setting. */
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
