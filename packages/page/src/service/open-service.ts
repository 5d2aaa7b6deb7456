import { createClient, type Client } from '@inlay/client'
import { conversationCalls, placeOf } from '@inlay/client/conversation'
import { InlayError, isInlayError, type BaseFilters, type ErrorCode, type SourceValue } from '@inlay/protocol'
import * as v from 'valibot'
import { ownDocumentationSet } from '../own-documentation-set.ts'
import { hasQuote } from '../sources/passage.ts'
import { texts } from '../texts/texts.ts'
import { listedProjects } from './listed-projects.ts'
import type {
  AnswerFilters,
  AnsweringModel,
  ChatListing,
  DocumentCounts,
  FilterValues,
  ListedAgent,
  ListedProject,
  Service,
} from './service.ts'

/** A service that took the key, and the model that answers there, named as what it is. */
export interface OpenService {
  readonly service: Service
  readonly model: AnsweringModel
  /** Agents that can answer; the first is the assistant itself. */
  readonly agents: readonly ListedAgent[]
  /** The newest conversations. */
  readonly chats: ChatListing
  readonly projects: readonly ListedProject[]
  /** Documents by state; null if the key lacks the permission. */
  readonly counts: DocumentCounts | null
  /** Client and key for the routes of the administration; null if the key may not call them. */
  readonly admin: { readonly client: Client; readonly baseUrl: string; readonly apiKey: string } | null
}

/**
 * Opens the service that serves this page.
 * @throws INVALID_TOKEN when it does not take the key, CONNECTION_ERROR when it is not there
 */
export async function openService(apiKey: string): Promise<OpenService> {
  const baseUrl = document.documentElement.dataset.basePath ?? '/api'
  const start = await readStart(apiKey)
  const isAdmin = start.me.is_superuser
  const client = createClient({ baseUrl, apiKey })
  const service = toService(client, { baseUrl, apiKey, isAdmin })
  return {
    service,
    model: modelOf(start.models),
    agents: agentsOf(start.agents),
    chats: start.chats === null ? { chats: [], next: null } : listingOf(start.chats, start.pinned ?? []),
    projects: listedProjects(start.projects ?? []),
    counts: start.figures?.documents ?? null,
    admin: isAdmin ? { client, baseUrl, apiKey } : null,
  }
}

const agentsOf = (listed: v.InferOutput<typeof startSchema>['agents']): readonly ListedAgent[] =>
  (listed ?? []).map(({ tools, starter_messages: starters, uploaded_image_id: pictureId, ...agent }) => ({
    ...agent,
    starters: starters ?? [],
    pictureId,
    actions: tools.map(({ id, display_name: name }) => ({ id, name })),
  }))

/** Returns a value for an error with this code; throws any other. */
function unless<Value>(code: ErrorCode, value: Value): (error: unknown) => Value {
  return (error) => {
    if (isInlayError(error) && error.code === code) return value
    throw error
  }
}

/** Its documents are those of a pair of their own, which a document set names. */
function ownDocumentationOf(
  client: Client,
  access: Access,
): Pick<Service, 'hasOwnDocumentation' | 'removeOwnDocumentation'> {
  const find = async (signal?: AbortSignal): Promise<{ setId: number; pairIds: readonly number[] } | undefined> => {
    const set = (await client.documentSets({ signal })).find(({ name }) => name === ownDocumentationSet)
    return set && { setId: set.id, pairIds: set.cc_pair_summaries.map(({ id }) => id) }
  }
  const remove = async (path: string): Promise<void> => {
    const response = await fetch(`${access.baseUrl}/manage/admin/${path}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${access.apiKey}` },
    })
    if (!response.ok && response.status !== 404)
      throw new InlayError('BAD_GATEWAY', { message: texts.frame.notRemoved })
  }
  return {
    hasOwnDocumentation: async (signal) => (await find(signal)) !== undefined,
    async removeOwnDocumentation() {
      const own = await find()
      for (const id of own?.pairIds ?? []) await remove(`cc-pair/${id}`)
      if (own !== undefined) await remove(`document-set/${own.setId}`)
    },
  }
}

/** Address of the service, and the accepted key. */
interface Access {
  readonly baseUrl: string
  readonly apiKey: string
  /** Whether the key may ask for figures and change models: a refused request is an error in the browser's console. */
  readonly isAdmin: boolean
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

function toService(client: Client, access: Access): Service {
  return {
    ask: askOf(client),
    ...conversationCalls(client),
    ...chatsOf(client),
    filterValues: (tagWords, signal) => filterValuesOf(client, access, tagWords, signal),
    ...ownDocumentationOf(client, access),
    ...localModelsOf(access),
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
    counts: async (signal) => (access.isAdmin ? (await client.figures({ signal })).documents : null),
    notices: (signal) => noticesOf(access, signal),
    async passage(title, text) {
      // The text itself finds its passage best, and no model is asked for other words.
      const { results } = await client.search({ query: text.slice(0, 2000), skip_query_expansion: true })
      return results.find((result) => result.title === title && hasQuote(result.content, text))?.content ?? null
    },
    documentChunks: (documentId, first, limit) => client.documentChunks(documentId, { first, limit }),
    async search(text, signal) {
      const query = { query: text.slice(0, 2000), skip_query_expansion: true, include_ranking: true }
      const { results } = await client.search(query, { signal })
      return results.map(
        ({ title, content, link, updated_at: updatedAt, document_id: documentId, chunk, ranking }) => ({
          title,
          text: content,
          link,
          updatedAt,
          documentId,
          chunk,
          ranking,
        }),
      )
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
      await client.deleteDocument(documentId).catch(unless('DOCUMENT_NOT_FOUND', undefined))
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

const noticesSchema = v.object({ notices: v.array(v.string()) })

async function noticesOf({ baseUrl, apiKey, isAdmin }: Access, signal?: AbortSignal): Promise<readonly string[]> {
  if (!isAdmin) return []
  const headers = { authorization: `Bearer ${apiKey}` }
  const response = await fetch(`${baseUrl}/service-api/notices`, { headers, ...(signal && { signal }) })
  return response.ok ? v.parse(noticesSchema, await response.json()).notices : []
}

/** The fields of local models that the page reads. */
const localModelsSchema = v.object({
  servers: v.array(v.object({ name: v.string(), base_url: v.string(), models: v.array(v.string()) })),
  chosen: v.nullable(v.object({ server: v.string(), base_url: v.string(), model: v.string() })),
})

function localModelsOf({
  baseUrl,
  apiKey,
  isAdmin,
}: Access): Pick<Service, 'localModels' | 'chooseLocalModel' | 'model' | 'agents'> {
  const address = `${baseUrl}/admin/local-models`
  const authorization = `Bearer ${apiKey}`
  return {
    async localModels(signal) {
      if (!isAdmin) return null
      const response = await fetch(address, { headers: { authorization }, ...(signal && { signal }) })
      return response.ok ? v.parse(localModelsSchema, await response.json()) : null
    },
    async chooseLocalModel(choice) {
      const response = await fetch(address, {
        method: 'PUT',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify({ choice }),
      })
      if (response.ok) return v.parse(localModelsSchema, await response.json())
      throw new InlayError('BAD_GATEWAY', { message: texts.frame.modelUnchanged })
    },
    model: async () => modelOf((await readStart(apiKey)).models),
    agents: async () => agentsOf((await readStart(apiKey)).agents),
  }
}

/** Most tags that are offered at once. */
const maxTags = 12

const sourcesSchema = v.object({ sources: v.array(v.string()) })
const tagsSchema = v.object({ tags: v.array(v.object({ tag_key: v.string(), tag_value: v.string() })) })

async function filterValuesOf(
  client: Client,
  { baseUrl, apiKey }: Access,
  tagWords: string,
  signal: AbortSignal,
): Promise<FilterValues> {
  const read = async (path: string): Promise<unknown> => {
    const response = await fetch(`${baseUrl}${path}`, { headers: { authorization: `Bearer ${apiKey}` }, signal })
    return response.ok ? response.json() : null
  }
  const tagQuery = new URLSearchParams({ match_pattern: tagWords, limit: String(maxTags) })
  const [sources, sets, tags] = await Promise.all([
    read('/manage/indexed-sources'),
    client.documentSets({ signal }),
    read(`/query/valid-tags?${tagQuery}`),
  ])
  const known = v.safeParse(sourcesSchema, sources)
  const tagList = v.safeParse(tagsSchema, tags)
  return {
    sources: known.success ? known.output.sources : [],
    sets: sets.map(({ name }) => name),
    tags: tagList.success ? tagList.output.tags.map(({ tag_key: key, tag_value: value }) => ({ key, value })) : [],
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

/** The fields of the model list that the page reads. */
const listingSchema = v.object({
  providers: v.array(
    v.object({
      id: v.number(),
      provider: v.string(),
      provider_display_name: v.string(),
      model_configurations: v.array(
        v.object({
          id: v.number(),
          name: v.string(),
          display_name: v.nullable(v.string()),
          is_visible: v.boolean(),
          supported_reasoning_efforts: v.array(v.string()),
        }),
      ),
    }),
  ),
  default_text: v.nullable(v.object({ provider_id: v.number(), model_name: v.string() })),
})

const chatSchema = v.object({ id: v.string(), name: v.string(), time_updated: v.string() })

/** Everything the first view needs, in one response. */
const startSchema = v.object({
  me: v.object({ is_superuser: v.boolean() }),
  models: v.nullable(listingSchema),
  agents: v.nullable(
    v.array(
      v.object({
        id: v.number(),
        name: v.string(),
        description: v.string(),
        starter_messages: v.nullable(v.array(v.object({ name: v.string(), message: v.string() }))),
        uploaded_image_id: v.nullable(v.string()),
        tools: v.array(v.object({ id: v.number(), display_name: v.string() })),
      }),
    ),
  ),
  chats: v.nullable(
    v.object({
      sessions: v.array(chatSchema),
      has_more: v.boolean(),
    }),
  ),
  pinned: v.nullable(v.array(chatSchema)),
  projects: v.nullable(
    v.array(v.object({ id: v.number(), name: v.string(), chat_sessions: v.array(v.object({ id: v.string() })) })),
  ),
  figures: v.nullable(
    v.object({
      documents: v.object({ indexed: v.number(), indexing: v.number(), pending: v.number(), failed: v.number() }),
    }),
  ),
})

async function readStart(apiKey: string): Promise<v.InferOutput<typeof startSchema>> {
  const response = await fetch('/page/start', { headers: { authorization: `Bearer ${apiKey}` } }).catch(
    (cause: unknown) => {
      throw new InlayError('CONNECTION_ERROR', { cause })
    },
  )
  if (response.status === 401) throw new InlayError('INVALID_TOKEN')
  const start = v.safeParse(startSchema, await response.json().catch(() => null))
  if (!response.ok || !start.success) throw new InlayError('BAD_GATEWAY', { message: texts.frame.notUnderstood })
  return start.output
}

type Sessions = Pick<NonNullable<v.InferOutput<typeof startSchema>['chats']>, 'sessions' | 'has_more'>

function listingOf(
  { sessions, has_more: hasMore }: { [Field in keyof Sessions]: Readonly<Sessions[Field]> },
  pinned: readonly v.InferOutput<typeof chatSchema>[],
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

function modelOf(listing: v.InferOutput<typeof listingSchema> | null): AnsweringModel {
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
