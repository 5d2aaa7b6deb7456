import { createInlay, type InlayOptions } from 'inlay'
import OpenAI from 'openai'
import { onTestFinished } from 'vitest'
import { temporaryFolder } from '../life/process.ts'

export const apiKey = 'key-of-the-office'

/** An assistant over a folder of its own, and OpenAI's client before it. */
export function openAssistant(options: Partial<InlayOptions> = {}) {
  const folder = temporaryFolder()
  const inlay = createInlay({ dataFolder: folder.path, apiKey, worker: { lingerMs: 1 }, ...options })
  onTestFinished(async () => {
    await inlay.close()
    folder.remove()
  })
  const fetch: typeof globalThis.fetch = async (input, init) => inlay.fetch(new Request(input, init))
  const clientAt = (baseURL: string, more: object = {}): OpenAI =>
    new OpenAI({ baseURL, apiKey, fetch, maxRetries: 0, ...more })
  return { inlay, folder: folder.path, fetch, clientAt, client: clientAt('http://inlay.test/v1') }
}
