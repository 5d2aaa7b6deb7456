import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLineDecoder, type StreamLine } from '@inlay/protocol'
import { createInlay, type Inlay, type InlayOptions } from 'inlay'
import { expect, onTestFinished } from 'vitest'

const key = 'the-key-of-the-test'
const authorization = `Bearer ${key}`

/** An assistant on an empty folder, closed with the test. */
export function openInlay(options: InlayOptions = {}): Inlay {
  const dataFolder = mkdtempSync(join(tmpdir(), 'inlay-research-'))
  const inlay = createInlay({ dataFolder, apiKey: key, worker: { lingerMs: 1 }, ...options })
  onTestFinished(async () => {
    await inlay.close()
    rmSync(dataFolder, { recursive: true, force: true, maxRetries: 10 })
  })
  return inlay
}

/** An assistant over the Markdown of a folder. */
export async function overFolder(folder: string, options: InlayOptions = {}): Promise<Inlay> {
  const inlay = openInlay(options)
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'))
  const documents = names.map((name) => {
    const text = readFileSync(join(folder, name), 'utf8')
    const title = /^title:\s*(.+)$/m.exec(text.slice(0, 600))?.[1] ?? /^#\s+(.+)$/m.exec(text)?.[1] ?? name
    const sections = [{ text, link: `https://docs.example/${name}` }]
    return { document: { id: name, semantic_identifier: title, source: 'file', metadata: {}, sections } }
  })
  const body = documents.map((document) => JSON.stringify(document)).join('\n')
  const headers = { authorization, 'content-type': 'application/x-ndjson' }
  const url = 'http://host.example/api/service-api/ingestion/batch'
  const accepted = await inlay.fetch(new Request(url, { method: 'POST', headers, body }))
  expect(accepted.status).toBe(200)
  await accepted.text()
  await expect.poll(() => countUnindexed(inlay), { timeout: 90_000 }).toBe(0)
  return inlay
}

async function countUnindexed(inlay: Inlay): Promise<number> {
  const counts = await Promise.all(
    ['pending', 'indexing'].map(async (state) => {
      const url = `http://host.example/api/service-api/ingestion?state=${state}&limit=1`
      const response = await inlay.fetch(new Request(url, { headers: { authorization } }))
      return ((await response.json()) as unknown[]).length
    }),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Asks for deep research. */
export async function research(inlay: Inlay, message: string, more: Record<string, unknown> = {}): Promise<Response> {
  const body = JSON.stringify({ message, deep_research: true, ...more })
  const headers = { authorization, accept: 'application/x-ndjson', 'content-type': 'application/json' }
  const url = 'http://host.example/api/chat/send-chat-message'
  return inlay.fetch(new Request(url, { method: 'POST', headers, body }))
}

/** Lines of a whole answer. */
export async function linesOf(response: Response): Promise<StreamLine[]> {
  const decoder = createLineDecoder()
  return [...decoder.push(await response.text()), ...decoder.end()].map(({ line }) => line)
}
