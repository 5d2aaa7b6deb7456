import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@inlay/client'
import { createInlay, nodeListener, type Inlay } from 'inlay'
import { afterAll, beforeAll, expect, test } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'inlay-file-'))
let inlay: Inlay
beforeAll(async () => {
  inlay = createInlay({ dataFolder: folder, worker: { lingerMs: 1 }, onError: () => {} })
  await inlay.start()
})
afterAll(async () => {
  await inlay.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
})

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const page = `---
title: Keepers
team: savanna
---
# Keepers

The zebras are looked after by Odile.
`

test('a file becomes a document with what it says of itself, and is found', async () => {
  const file = { name: 'notes/keepers.md', bytes: bytesOf(page) }
  const accepted = await inlay.knowledge.ingestFile(
    { file, id: 'keepers', link: 'https://zoo.example/keepers', metadata: { shelf: 'b' } },
    { waitMs: 60_000 },
  )
  expect(accepted).toEqual({ documentId: 'keepers', alreadyExisted: false, isUnchanged: false })
  const [best] = await inlay.knowledge.search({ text: 'who looks after zebras', limit: 1 })
  expect(best?.content).toContain('looked after by Odile')
  expect(best?.document).toMatchObject({
    document_id: 'keepers',
    semantic_identifier: 'Keepers',
    link: 'https://zoo.example/keepers',
    source_type: 'file',
    metadata: { team: 'savanna', shelf: 'b' },
  })
  expect(
    await inlay.knowledge.ingestFile({
      file,
      id: 'keepers',
      link: 'https://zoo.example/keepers',
      metadata: { shelf: 'b' },
    }),
  ).toMatchObject({ alreadyExisted: true, isUnchanged: true })
})

test('a file that does not name itself has the name it came by, and the same id each time', async () => {
  const file = { name: 'C:\\notes\\opening.txt', bytes: bytesOf('Open from nine to five.') }
  const first = await inlay.knowledge.ingestFile({ file }, { waitMs: 60_000 })
  const again = await inlay.knowledge.ingestFile({ file })
  expect(again).toMatchObject({ documentId: first.documentId, alreadyExisted: true })
  const [best] = await inlay.knowledge.search({ text: 'nine to five', limit: 1 })
  expect(best?.document.semantic_identifier).toBe('opening.txt')
})

test('files of one name in two folders are two documents, and each is updated by its path', async () => {
  const send = (name: string, text: string) => inlay.knowledge.ingestFile({ file: { name, bytes: bytesOf(text) } })
  expect(await send('A/README.md', 'Ants.')).toEqual({
    documentId: 'A/README.md',
    alreadyExisted: false,
    isUnchanged: false,
  })
  expect(await send('.\\B\\README.md', 'Bees.')).toMatchObject({ documentId: 'B/README.md', alreadyExisted: false })
  expect(await send('A/README.md', 'Ants.')).toMatchObject({ alreadyExisted: true, isUnchanged: true })
  expect(await send('A/README.md', 'Many ants.')).toMatchObject({ alreadyExisted: true, isUnchanged: false })
  // No path below a folder: its name is all that is known.
  for (const name of ['../README.md', '/etc/README.md']) expect((await send(name, 'x')).documentId).not.toContain('/')
})

test('a file that cannot be read is refused with the reason, and nothing is stored', async () => {
  const file = { name: 'torn.pdf', bytes: bytesOf('%PDF-1.7 and then nothing') }
  await expect(inlay.knowledge.ingestFile({ file, id: 'torn' })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  expect(await inlay.knowledge.status('torn')).toBeUndefined()
})

test('over a socket a file becomes a document', async () => {
  const { key } = await inlay.keys.create({ scopes: ['ingest'] })
  const server = createServer(nodeListener(inlay.fetch)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = createClient({ baseUrl: `http://127.0.0.1:${port}/api`, apiKey: key })
  const accepted = await client.ingestFile(new File(['# Socket\n\nSent over a socket.'], 'socket.md'), { id: 'socket' })
  expect(accepted).toEqual({ document_id: 'socket', already_existed: false })
  await client.deleteDocument('socket')
  server.close()
})

test('over HTTP a file becomes a document, and the newest is listed first and found by its name', async () => {
  const { key } = await inlay.keys.create({ scopes: ['ingest'] })
  const client = createClient({
    baseUrl: 'http://inlay.test/api',
    apiKey: key,
    fetch: (input, init) => inlay.fetch(new Request(input, init)),
  })
  const fileOf = (name: string, text: string): File => new File([text], name)
  const accepted = await client.ingestFile(
    fileOf('Ärztliche 100%.html', '<title>Rota</title><p>The vet comes on Friday.'),
    {
      link: 'https://zoo.example/rota',
    },
  )
  expect(accepted.already_existed).toBe(false)
  await client.ingestFile(fileOf('feeding.md', '# Feeding\n\nHay at eight.'), { id: 'zoo/50%_feeding' })
  await inlay.knowledge.whenIdle()
  const first = await client.documents({ order: 'newest', limit: 1 })
  expect(first.documents.map(({ semantic_id }) => semantic_id)).toEqual(['Feeding'])
  const second = await client.documents({ order: 'newest', limit: 1, after: first.next! })
  expect(second.documents).toMatchObject([{ semantic_id: 'Rota', link: 'https://zoo.example/rota' }])
  const matching = async (match: string): Promise<string[]> =>
    (await client.documents({ match })).documents.map(({ semantic_id }) => semantic_id)
  expect(await matching('FEED')).toEqual(['Feeding'])
  expect(await matching('50%_')).toEqual(['Feeding'])
  expect(await matching('%')).toEqual(['Feeding'])
  expect(await matching('nothing like it')).toEqual([])
  await expect(client.documents({ order: 'newest', after: 'x' })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  await expect(client.ingestFile(fileOf('empty.md', ''))).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    message: expect.stringContaining('empty'),
  })
  expect(await client.requeue()).toBe(0)
})
