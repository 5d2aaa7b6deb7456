import { createLineDecoder, InlayError, type StreamLine } from '@inlay/protocol'
import type { Service } from './service.ts'

export interface OpenService {
  readonly service: Service
  readonly modelName: string
}

const base = document.documentElement.dataset.basePath ?? '/api'

export async function openService(key: string): Promise<OpenService> {
  const call = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const response = await fetch(base + path, {
      ...init,
      headers: { authorization: `Bearer ${key}`, ...(init.body ? { 'content-type': 'application/json' } : {}) },
    })
    if (!response.ok) {
      const body = await response.json().catch(() => ({}))
      throw new InlayError(body.error_code ?? 'INTERNAL_ERROR', { message: body.detail })
    }
    return response
  }
  const models = await (await call('/llm/provider')).json()
  const provider = models.providers[0]
  const modelName =
    provider.provider === 'extractive'
      ? 'Built-in extractive model: quotes your documents; no AI provider configured'
      : provider.name
  async function* ask(
    question: string,
    options: { sessionId: string | null; signal: AbortSignal },
  ): AsyncGenerator<StreamLine> {
    const response = await call('/chat/send-chat-message', {
      method: 'POST',
      signal: options.signal,
      body: JSON.stringify({ message: question, chat_session_id: options.sessionId }),
    })
    const decoder = createLineDecoder()
    const reader = response.body!.getReader()
    for (;;) {
      const { done, value } = await reader.read()
      for (const { line } of done ? decoder.end() : decoder.push(value)) yield line
      if (done) return
    }
  }
  const service: Service = {
    ask,
    stop: async (id) => void (await call(`/chat/stop-chat-session/${id}`, { method: 'POST' })),
    documents: async () => ({ documents: await (await call('/service-api/ingestion?limit=1000')).json(), more: false }),
    failureReason: async (id) => (await (await call(`/service-api/ingestion/${encodeURIComponent(id)}`)).json()).reason,
    ingest: async (document) =>
      void (await call('/service-api/ingestion', {
        method: 'POST',
        body: JSON.stringify({
          document: {
            id: document.id,
            semantic_identifier: document.title,
            source: 'file',
            sections: [{ text: document.text }],
            metadata: {},
          },
        }),
      })),
    remove: async (id) => void (await call(`/service-api/ingestion/${encodeURIComponent(id)}`, { method: 'DELETE' })),
  }
  return { service, modelName }
}
