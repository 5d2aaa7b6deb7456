import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lancedbIndex } from '@inlay/drivers/lancedb'
import { isInlayError } from '@inlay/protocol'
import type { ConformanceTest } from '@inlay/conformance'
import { createInlay } from 'inlay'
import { row } from '../../drivers/lancedb/sample-rows.ts'
import { eventually } from '../../life/process.ts'
import type { S3Server } from './s3-server.ts'

/** Checks of a bucket beyond the conformance tests. */
export const s3Scenes = (server: S3Server): ConformanceTest[] => [
  ['two processes write while a third reads: nothing is lost or doubled', () => twoProcesses(server)],
  ['a killed writer leaves what it said was in, and nothing half', () => killedWriter(server)],
  ['text of removed rows is gone after a purge', () => purge(server)],
  ['an index knows what it was marked with, and leaves nothing when it is dropped', () => markAndDrop(server)],
  ['an index whose versions are gone is missing, not empty', () => withoutVersions(server)],
  ['an outage is told within 20 seconds and ends by itself', () => outage(server)],
  ['a whole assistant keeps what it took in while the bucket was away', () => assistantInOutage(server)],
]

const placeOf = ({ bucket }: S3Server, name: string): string => `s3://${bucket}/${name}`

interface Writer {
  readonly said: string[]
  kill(): Promise<void>
  readonly ended: Promise<void>
}

/** `most` documents; says `+id` once a document is in, `-id` once it is out. */
function startWriter(place: string, name: string, most: number): Writer {
  const program = join(import.meta.dirname, '../../drivers/lancedb/writer.ts')
  const child = spawn(process.execPath, ['--conditions=@inlay/source', program, place, name, String(most)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const said: string[] = []
  let rest = ''
  child.stdout.on('data', (part) => {
    const lines = (rest + part).split('\n')
    rest = lines.pop() ?? ''
    said.push(...lines)
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  return {
    said,
    ended,
    kill: () => (child.kill('SIGKILL'), ended),
  }
}

/** Rows of a document: as many as its number says. */
const rowsOf = (id: string): number => (Number(id.split('-').at(-1)) % 3) + 1

async function compare(place: string, writers: readonly Writer[]): Promise<void> {
  const index = lancedbIndex({ folder: place })
  await index.open()
  for (const line of writers.flatMap(({ said }) => said)) {
    const id = line.slice(1)
    const isOut = writers.some(({ said }) => said.includes(`-${id}`))
    const rows = await index.read(`generation of ${id}`, 0, 100)
    assert.equal(rows.length, isOut ? 0 : rowsOf(id), `rows of ${id}`)
  }
  await index.close()
}

async function twoProcesses(server: S3Server): Promise<void> {
  const place = placeOf(server, 'two')
  const reader = lancedbIndex({ folder: place })
  await reader.open()
  const writers = [startWriter(place, 'a', 12), startWriter(place, 'b', 12)]
  let over = false
  const ended = Promise.all(writers.map(({ ended }) => ended)).then(() => (over = true))
  let most = 0
  while (!over) {
    const before = writers.flatMap(({ said }) => said.filter((line) => line.startsWith('+')))
    const hits = await reader.search({ text: 'heron part', limit: 500 })
    const foundIds = new Set(hits.map(({ documentId }) => documentId))
    const removing = new Set(
      writers
        .flatMap(({ said }) => said.map((line) => line.slice(1)))
        .filter((id) => Number(id.split('-')[1]) % 4 === 2),
    )
    for (const line of before) {
      const id = line.slice(1)
      if (!removing.has(id)) assert.ok(foundIds.has(id), `${id} was in before the search`)
    }
    most = Math.max(most, foundIds.size)
  }
  await ended
  await reader.close()
  assert.ok(most > 5, 'the reader saw rows come in')
  assert.deepEqual(
    writers.map(({ said }) => said.filter((line) => line.startsWith('+')).length),
    [12, 12],
  )
  await compare(place, writers)
}

async function killedWriter(server: S3Server): Promise<void> {
  const place = placeOf(server, 'killed')
  for (let round = 0; round < 3; round++) {
    const writer = startWriter(place, `round${round}`, 1_000)
    await eventually('some rows', async () => writer.said.length >= 4 + round || undefined)
    await writer.kill()
    await compare(place, [writer])
  }
}

async function purge(server: S3Server): Promise<void> {
  const index = lancedbIndex({ folder: placeOf(server, 'purge'), keepVersionsMs: 0, purgeMs: 0 })
  await index.open()
  await index.append(Array.from({ length: 60 }, (_, n) => row(`d${n}`, n === 7 ? 'The quokkasecret.' : `Heron ${n}.`)))
  await index.maintain({ idle: true })
  await index.remove(['generation of d7'])
  await index.maintain({ idle: true })
  const { upkeepDueMs } = await index.maintain({ idle: true })
  assert.equal(upkeepDueMs, undefined, 'nothing is left to purge')
  assert.equal((await index.search({ text: 'heron', limit: 100 })).length, 59)
  assert.deepEqual(await index.search({ text: 'quokkasecret', limit: 5 }), [])
  await index.close()
}

async function markAndDrop(server: S3Server): Promise<void> {
  const open = (): ReturnType<typeof lancedbIndex> => lancedbIndex({ folder: placeOf(server, 'marked') })
  const index = open()
  assert.deepEqual(await index.inspect?.(), { state: 'missing' })
  await index.open()
  await index.append([row('d', 'Heron.')])
  await index.mark?.('first')
  await index.mark?.('second')
  assert.deepEqual(await open().inspect?.({ thorough: true }), { state: 'present', identity: 'second' })
  const beside = index.staging!(1)
  await beside.open()
  await beside.append([row('e', 'Egret.')])
  await index.drop?.()
  assert.deepEqual(await open().inspect?.(), { state: 'missing' })
  assert.equal((await beside.search({ text: 'egret', limit: 5 })).length, 1)
  await beside.drop?.()
}

async function withoutVersions(server: S3Server): Promise<void> {
  const open = (): ReturnType<typeof lancedbIndex> => lancedbIndex({ folder: placeOf(server, 'versions') })
  const index = open()
  await index.open()
  await index.append([row('d', 'Heron.')])
  await index.mark?.('first')
  await index.close()
  assert.ok((await server.remove('.manifest')) > 0, 'there were versions')
  assert.deepEqual(await open().inspect?.(), { state: 'missing' }, 'with the notes gone as well')
}

async function outage(server: S3Server): Promise<void> {
  const index = lancedbIndex({ folder: placeOf(server, 'outage') })
  await index.open()
  await index.append([row('before', 'Heron.')])
  await server.shut()
  try {
    for (const call of [() => index.search({ text: 'heron', limit: 5 }), () => index.append([row('amid', 'Heron.')])]) {
      const begun = Date.now()
      const refused = await call().then(
        () => undefined,
        (error: unknown) => error,
      )
      assert.ok(
        isInlayError(refused) && refused.code === 'SERVICE_UNAVAILABLE',
        `told: ${String(refused)} ${String((refused as Error | undefined)?.cause)}`,
      )
      assert.ok(Date.now() - begun < 20_000, 'told soon')
    }
  } finally {
    await server.reopen()
  }
  await index.append([row('after', 'Heron.')])
  const foundIds = (await index.search({ text: 'heron', limit: 5 })).map(({ documentId }) => documentId)
  assert.ok(foundIds.includes('before') && foundIds.includes('after'))
  await index.close()
}

async function assistantInOutage(server: S3Server): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-s3-'))
  const inlay = createInlay({
    dataFolder: folder,
    apiKey: 'inlay_check_s3_key',
    index: placeOf(server, 'assistant/index'),
    files: placeOf(server, 'assistant/files'),
    s3: { ...server.credentials, endpoint: server.endpoint },
    onError: () => {},
  })
  const call = async (path: string, init?: RequestInit): Promise<Response> => {
    const headers = { authorization: 'Bearer inlay_check_s3_key', ...init?.headers }
    const reply = await inlay.fetch(new Request(`http://inlay.test/api${path}`, { ...init, headers }))
    assert.ok(reply.ok, `${path}: ${reply.status}`)
    return reply
  }
  const ingest = (id: string, text: string): Promise<Response> =>
    call('/service-api/ingestion', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        document: { id, semantic_identifier: id, source: 'file', sections: [{ text }], metadata: {} },
      }),
    })
  // A picture of one point, and much after its end: nobody reads it as text.
  const picture = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
  const bytes = Buffer.concat([Buffer.from(picture, 'base64'), Buffer.alloc(7_500_000, 'heron ')])
  try {
    await ingest('first', 'The heron stands in the reeds.')
    const form = new FormData()
    form.append('files', new File([bytes], 'heron.png', { type: 'image/png' }))
    const uploaded = await call('/user/projects/file/upload', { method: 'POST', body: form })
    const { user_files: files, ...rest } = (await uploaded.json()) as { user_files: { file_id: string }[] }
    assert.equal(files.length, 1, JSON.stringify(rest))
    await server.shut()
    await ingest('second', 'The heron flies over the lake.')
    await server.reopen()
    await eventually(
      'both documents are found',
      async () => {
        const hits = await inlay.knowledge.search({ text: 'heron', limit: 10 }).catch(() => [])
        return new Set(hits.map(({ document }) => document.document_id)).size >= 2 || undefined
      },
      180_000,
    )
    // It is stored in parts of 4 MiB, so that no more is read than is sent.
    const file = await call(`/chat/file/${files[0]!.file_id}`)
    assert.ok(bytes.equals(Buffer.from(await file.arrayBuffer())), 'the file is whole')
  } finally {
    await inlay.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
