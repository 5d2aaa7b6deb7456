import { createInlay, type InlayOptions } from 'inlay'
import type { KnowledgeFigures } from '@inlay/knowledge'
import { onTestFinished } from 'vitest'
import { eventually, temporaryFolder } from './process.ts'

const apiKey = 'inlay_life_test_key_0123456789abcdef'

/** Answer of `GET …/ingestion/{id}`. */
export interface DocumentState {
  readonly state: 'pending' | 'indexing' | 'indexed' | 'failed'
  readonly reason: string | null
  readonly attempts: number
}

/** An answer with its body read. */
export interface Answer {
  readonly status: number
  readonly body: { readonly error_code?: string; readonly detail?: string; readonly already_existed?: boolean }
}

/** A whole Inlay in this process, and what a client of it does. */
export interface Harness {
  /** Everything that was reported as not expected. */
  readonly errors: unknown[]
  post(id: string, text: string): Promise<Answer>
  remove(id: string): Promise<number>
  /** Undefined when there is no such document. */
  stateOf(id: string): Promise<DocumentState | undefined>
  /** Ids of the documents that search finds, one for each passage. */
  find(words: string): Promise<string[]>
  /** Waits until a document is in a state; answers all that is said of it. */
  until(id: string, state: DocumentState['state'], timeoutMs?: number): Promise<DocumentState>
  figures(): Promise<KnowledgeFigures>
  requeue(): Promise<number>
}

/** Its clock runs so many times as fast: what waits for seconds before it is tried again should not hold up a test. */
const haste = 100

/** Opens one; closed with the test. */
export function openHarness(options: InlayOptions): Harness {
  const errors: unknown[] = []
  const began = Date.now()
  const inlay = createInlay({
    apiKey,
    now: () => began + (Date.now() - began) * haste,
    worker: { lingerMs: 5, pollMs: 20, leaseMs: 5000 * haste },
    onError: (error) => errors.push(error),
    ...options,
  })
  onTestFinished(() => inlay.close())
  const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
    inlay.fetch(
      new Request(`http://host/api${path}`, {
        ...init,
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      }),
    )
  const stateOf = async (id: string): Promise<DocumentState | undefined> => {
    const answer = await ask(`/service-api/ingestion/${encodeURIComponent(id)}`)
    return answer.status === 404 ? undefined : ((await answer.json()) as DocumentState)
  }
  return {
    errors,
    stateOf,
    post: async (id, text) => {
      const document = { id, semantic_identifier: id, metadata: {}, sections: [{ text }] }
      const answer = await ask('/service-api/ingestion', { method: 'POST', body: JSON.stringify({ document }) })
      return { status: answer.status, body: (await answer.json()) as Answer['body'] }
    },
    remove: async (id) => (await ask(`/service-api/ingestion/${encodeURIComponent(id)}`, { method: 'DELETE' })).status,
    find: async (words) => {
      const answer = await ask('/search', { method: 'POST', body: JSON.stringify({ query: words }) })
      if (answer.status !== 200) throw new Error(`search answered ${answer.status}: ${await answer.text()}`)
      const { results } = (await answer.json()) as { results: { title: string; content: string }[] }
      // Only results with the exact words, since a search also finds similar ones.
      return results.filter(({ content }) => content.includes(words)).map(({ title }) => title)
    },
    until: (id, state, timeoutMs = 60_000) =>
      eventually(
        `${id} is ${state}`,
        async () => {
          const now = await stateOf(id)
          return now?.state === state ? now : undefined
        },
        timeoutMs,
      ),
    figures: () => inlay.knowledge.figures(),
    requeue: () => inlay.knowledge.requeue(),
  }
}

/** A folder that is gone after the test. */
export function testFolder(): string {
  const folder = temporaryFolder()
  onTestFinished(() => folder.remove())
  return folder.path
}
