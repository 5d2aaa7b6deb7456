import { createClient, type Client } from '@inlay/client'
import { InlayError, isInlayError } from '@inlay/protocol'
import * as v from 'valibot'
import { hasQuote } from './passage.ts'
import type { Service } from './service.ts'

/** A service that took the key, and the model that answers there, named as what it is. */
export interface OpenService {
  readonly service: Service
  readonly modelName: string
}

/**
 * Opens the service this page comes from.
 * @throws INVALID_TOKEN when it does not take the key, CONNECTION_ERROR when it is not there
 */
export async function openService(apiKey: string): Promise<OpenService> {
  const baseUrl = document.documentElement.dataset.basePath ?? '/api'
  const modelName = await readModelName(baseUrl, apiKey)
  return { service: toService(createClient({ baseUrl, apiKey })), modelName }
}

function toService(client: Client): Service {
  return {
    ask: (message, { sessionId, signal }) =>
      client.send({ message, chat_session_id: sessionId, origin: 'webapp' }, { signal }),
    stop: (sessionId) => client.stop(sessionId),
    async documents(signal) {
      const { documents, next } = await client.documents({ limit: 1000, signal })
      return { documents, more: next !== null }
    },
    failureReason: async (documentId) => (await client.documentState(documentId)).reason,
    async passagesOf(title, signal) {
      const { results } = await client.search(title.slice(0, 2000), { signal })
      const own = results.filter((result) => result.title === title)
      return own.map((result) => result.content).join('\n\n')
    },
    async passage(title, text) {
      // The text itself finds its passage best.
      const { results } = await client.search(text.slice(0, 2000))
      return results.find((result) => result.title === title && hasQuote(result.content, text))?.content ?? null
    },
    async ingest({ id, title, text }) {
      await client.ingest({ id, semantic_identifier: title, source: 'file', sections: [{ text }], metadata: {} })
    },
    async remove(documentId) {
      await client.deleteDocument(documentId).catch((error: unknown) => {
        // Somebody else was faster.
        if (!isInlayError(error) || error.code !== 'DOCUMENT_NOT_FOUND') throw error
      })
    },
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

async function readModelName(baseUrl: string, apiKey: string): Promise<string> {
  const response = await fetch(`${baseUrl}/llm/provider`, { headers: { authorization: `Bearer ${apiKey}` } })
  if (response.status === 401) throw new InlayError('INVALID_TOKEN')
  const listing = v.safeParse(listingSchema, await response.json().catch(() => null))
  if (!response.ok || !listing.success)
    throw new InlayError('BAD_GATEWAY', { message: 'The server does not answer as an Inlay does.' })
  const { providers, default_text: chosen } = listing.output
  const provider = providers.find(({ id }) => id === chosen?.provider_id)
  const model = provider?.model_configurations.find(({ name }) => name === chosen?.model_name)
  if (provider === undefined || model === undefined) return 'No model is configured'
  const name = model.display_name ?? model.name
  if (provider.provider === 'extractive') return `${name}: quotes your documents; no AI provider configured`
  return `${name} (${provider.provider_display_name})`
}
