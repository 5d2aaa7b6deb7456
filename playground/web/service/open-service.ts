import { createClient, type Client } from '@inlay/client'
import { InlayError, isInlayError, type ErrorCode } from '@inlay/protocol'
import * as v from 'valibot'
import { ownDocumentationSet } from '../../own-documentation-set.ts'
import { hasQuote } from '../sources/passage.ts'
import type { AnsweringModel, Service } from './service.ts'

/** A service that took the key, and the model that answers there, named as what it is. */
export interface OpenService {
  readonly service: Service
  readonly model: AnsweringModel
}

/**
 * Opens the service this page comes from.
 * @throws INVALID_TOKEN when it does not take the key, CONNECTION_ERROR when it is not there
 */
export async function openService(apiKey: string): Promise<OpenService> {
  const baseUrl = document.documentElement.dataset.basePath ?? '/api'
  const [model, isAdmin] = await Promise.all([readModel(baseUrl, apiKey), readIsAdmin(baseUrl, apiKey)])
  return { service: toService(createClient({ baseUrl, apiKey }), { baseUrl, apiKey, isAdmin }), model }
}

/** Answers an error of one code with a value, and throws any other. */
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
    if (!response.ok && response.status !== 404) throw new InlayError('BAD_GATEWAY', { message: 'It was not removed.' })
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

/** Where the service is, and the key it took. */
interface Access {
  readonly baseUrl: string
  readonly apiKey: string
  /** Whether the key may ask for figures and change models: a refused request is an error in the browser's console. */
  readonly isAdmin: boolean
}

function toService(client: Client, access: Access): Service {
  return {
    ask: ({ question, files }, { sessionId, againId, isResearch, agentId, signal }) =>
      client.send(
        {
          message: question,
          chat_session_id: sessionId,
          ...(againId !== null && { parent_message_id: againId }),
          ...(againId === null && files.length > 0 && { file_descriptors: files.map(({ id }) => ({ id })) }),
          ...(isResearch && { deep_research: true }),
          ...(sessionId === null && agentId ? { chat_session_info: { persona_id: agentId } } : {}),
          origin: 'webapp',
        },
        { signal },
      ),
    follow: (sessionId, signal) => client.resume(sessionId, { signal }),
    stop: (sessionId) => client.stop(sessionId),
    agents: () => client.agents.list(),
    ...chatsOf(client),
    ...ownDocumentationOf(client, access),
    ...localModelsOf(access),
    async upload(file) {
      const { user_files: files, rejected_files: rejected } = await client.files.upload([file])
      const [taken] = files
      if (taken !== undefined) return { id: taken.file_id, name: taken.name }
      return { refusal: rejected[0]?.reason ?? 'The file was not taken.' }
    },
    file: (fileId) => client.files.content(fileId),
    documents: (query) => client.documents({ order: 'newest', ...query }),
    counts: async (signal) => (access.isAdmin ? (await client.figures({ signal })).documents : null),
    notices: (signal) => noticesOf(access, signal),
    failureReason: async (documentId) => (await client.documentState(documentId)).reason,
    async passage(title, text) {
      // The text itself finds its passage best, and no model is asked for other words.
      const { results } = await client.search({ query: text.slice(0, 2000), skip_query_expansion: true })
      return results.find((result) => result.title === title && hasQuote(result.content, text))?.content ?? null
    },
    async ingest({ id, title, text }) {
      await client.ingest({ id, semantic_identifier: title, source: 'file', sections: [{ text }], metadata: {} })
    },
    ingestFile: async (file, id) => void (await client.ingestFile(file, { id })),
    hasDocument: async (id) => (await client.documents({ documentId: id, limit: 1 })).documents.length > 0,
    requeue: async (documentId) => void (await client.requeue(documentId)),
    async remove(documentId) {
      // Somebody else may have been faster.
      await client.deleteDocument(documentId).catch(unless('DOCUMENT_NOT_FOUND', undefined))
    },
  }
}

const noticesSchema = v.object({ notices: v.array(v.string()) })

async function noticesOf({ baseUrl, apiKey, isAdmin }: Access, signal?: AbortSignal): Promise<readonly string[]> {
  if (!isAdmin) return []
  const headers = { authorization: `Bearer ${apiKey}` }
  const response = await fetch(`${baseUrl}/service-api/notices`, { headers, ...(signal && { signal }) })
  return response.ok ? v.parse(noticesSchema, await response.json()).notices : []
}

/** What the page reads of the models of the machine. */
const localModelsSchema = v.object({
  servers: v.array(v.object({ name: v.string(), base_url: v.string(), models: v.array(v.string()) })),
  chosen: v.nullable(v.object({ server: v.string(), base_url: v.string(), model: v.string() })),
})

/** What people can do about the model that answers. */
function localModelsOf({
  baseUrl,
  apiKey,
  isAdmin,
}: Access): Pick<Service, 'localModels' | 'chooseLocalModel' | 'model'> {
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
      throw new InlayError('BAD_GATEWAY', { message: 'The model was not changed: it may have ended meanwhile.' })
    },
    model: () => readModel(baseUrl, apiKey),
  }
}

/** A listing goes on before the last time it told, a search on the next page. */
function chatsOf(client: Client): Pick<Service, 'chat' | 'chats' | 'rename' | 'removeChat'> {
  return {
    chat: (sessionId) => client.sessions.get(sessionId),
    async chats(words, before) {
      if (words === '') {
        const { sessions, has_more: hasMore } = await client.sessions.list({ ...(before !== null && { before }) })
        const chats = sessions.map(({ id, name, time_updated: time }) => ({ id, name, time }))
        return { chats, next: hasMore ? (chats.at(-1)?.time ?? null) : null }
      }
      const page = before === null ? 1 : Number(before)
      const { groups, next_page: next } = await client.sessions.search(words, { page, limit: 50 })
      const chats = groups.flatMap((group) =>
        group.chats.map(({ id, name, time_created: time }) => ({ id, name, time })),
      )
      return { chats, next: next === null ? null : String(next) }
    },
    rename: async (sessionId, name) => void (await client.sessions.rename(sessionId, name)),
    removeChat: (sessionId) => client.sessions.remove(sessionId),
  }
}

/** What the page reads of the listing of models. */
const listingSchema = v.object({
  providers: v.array(
    v.object({
      id: v.number(),
      provider: v.string(),
      provider_display_name: v.string(),
      model_configurations: v.array(v.object({ name: v.string(), display_name: v.nullable(v.string()) })),
    }),
  ),
  default_text: v.nullable(v.object({ provider_id: v.number(), model_name: v.string() })),
})

/** What the page reads of who the key acts for. */
const callerSchema = v.object({ is_superuser: v.boolean() })

async function readIsAdmin(baseUrl: string, apiKey: string): Promise<boolean> {
  const response = await fetch(`${baseUrl}/me`, { headers: { authorization: `Bearer ${apiKey}` } }).catch(() => null)
  const caller = v.safeParse(callerSchema, await response?.json().catch(() => null))
  return caller.success && caller.output.is_superuser
}

async function readModel(baseUrl: string, apiKey: string): Promise<AnsweringModel> {
  const response = await fetch(`${baseUrl}/llm/provider`, {
    headers: { authorization: `Bearer ${apiKey}` },
  }).catch((cause: unknown) => {
    throw new InlayError('CONNECTION_ERROR', { cause })
  })
  if (response.status === 401) throw new InlayError('INVALID_TOKEN')
  const listing = v.safeParse(listingSchema, await response.json().catch(() => null))
  if (!response.ok || !listing.success)
    throw new InlayError('BAD_GATEWAY', { message: 'The server does not answer as an Inlay does.' })
  const { providers, default_text: chosen } = listing.output
  const provider = providers.find(({ id }) => id === chosen?.provider_id)
  const model = provider?.model_configurations.find(({ name }) => name === chosen?.model_name)
  if (provider === undefined || model === undefined) return { name: 'No model is configured', canResearch: false }
  const name = model.display_name ?? model.name
  if (provider.provider === 'extractive')
    return { name: `${name}: quotes your documents; no AI provider configured`, canResearch: false }
  return { name: `${name} (${provider.provider_display_name})`, canResearch: true }
}
