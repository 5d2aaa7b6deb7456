import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInlay, type Inlay, type InlayOptions } from 'inlay'
import { expect, onTestFinished } from 'vitest'

/** An assistant with documents, by id, that are searchable. Everybody is ana; closed with the test. */
export async function startWithDocuments(
  documents: Readonly<Record<string, string>>,
  options: InlayOptions,
): Promise<Inlay> {
  const dataFolder = mkdtempSync(join(tmpdir(), 'inlay-documents-'))
  const inlay = createInlay({
    ...options,
    dataFolder,
    worker: { lingerMs: 1 },
    authenticate: () => ({ id: 'ana', scopes: ['admin'] }),
  })
  onTestFinished(async () => {
    await inlay.close()
    rmSync(dataFolder, { recursive: true, force: true, maxRetries: 10 })
  })
  const sent = Object.entries(documents).map(([id, text]) =>
    post(inlay, '/service-api/ingestion', {
      document: {
        id,
        semantic_identifier: id,
        source: 'web',
        sections: [{ text, link: `https://x.example/${id}` }],
        metadata: {},
      },
    }),
  )
  expect((await Promise.all(sent)).filter(({ status }) => status !== 200)).toEqual([])
  return inlay
}

/** Posts JSON; of a document it waits until it is searchable. */
export const post = (inlay: Inlay, path: string, body: object): Promise<Response> =>
  inlay.fetch(
    new Request(`http://host.example/api${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', prefer: 'wait=60', accept: 'application/x-ndjson' },
      body: JSON.stringify(body),
    }),
  )
