import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInlay, type Inlay, type InlayOptions } from 'inlay'
import { expect, onTestFinished, test } from 'vitest'
import { startEmbeddings, type EmbeddingsStandIn } from '../../stand-in/embeddings.ts'

const dataFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-dimensions-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
  return folder
}

function open(options: InlayOptions): Inlay {
  const inlay = createInlay({ onError: () => {}, ...options })
  onTestFinished(() => inlay.close())
  return inlay
}

async function service(dimensions: number): Promise<EmbeddingsStandIn> {
  const server = await startEmbeddings({ dimensions })
  onTestFinished(() => server.close())
  return server
}

test('a model is asked for its dimensions once, by address and name', async () => {
  const [server, other, folder] = [await service(24), await service(12), dataFolder()]
  const space = async ({ baseUrl }: EmbeddingsStandIn, name: string): Promise<string | null> => {
    const inlay = open({ dataFolder: folder, embedder: { name, baseUrl } })
    const { configured } = await inlay.knowledge.embedder()
    await inlay.close()
    return configured
  }
  // One of a variable length is asked for its own.
  expect(await space(server, 'text-embedding-3-small')).toBe('openai/text-embedding-3-small@24')
  expect(await space(server, 'text-embedding-3-small')).toBe('openai/text-embedding-3-small@24')
  expect(server.seen.map(({ body }) => body.dimensions)).toEqual([undefined])
  expect(await space(other, 'text-embedding-3-small')).toBe('openai/text-embedding-3-small@12')
  expect(await space(server, 'm')).toBe('openai/m@24')
  expect(server.seen).toHaveLength(2)
})

test.each(['v2', 'v3', 'v4'] as const)('a model object of the AI SDK, specification %s, embeds', async (version) => {
  const embedder = {
    specificationVersion: version,
    provider: 'acme.embedding',
    modelId: 'e-1',
    maxEmbeddingsPerCall: 8,
    supportsParallelCalls: false,
    doEmbed: async ({ values }: { values: string[] }) => ({ embeddings: values.map(() => [0, 1, 0]), warnings: [] }),
  }
  const inlay = open({ dataFolder: dataFolder(), embedder })
  await inlay.knowledge.accept({ document: { sections: [{ text: 'The heron waits.' }] } }, { waitMs: 60_000 })
  expect(await inlay.knowledge.embedder()).toMatchObject({ recorded: 'acme.embedding/e-1@3', isUsed: true })
})

test('a model that does not answer its dimensions is an error that says what to do, until it does', async () => {
  const server = await service(8)
  const unusable = '{"data":[{"index":0,"embedding":[]}]}'
  server.mishaps.push({ status: 401, body: '{"error":{"message":"Wrong key."}}' }, { status: 200, body: unusable })
  const inlay = open({ dataFolder: dataFolder(), embedder: { name: 'm', baseUrl: server.baseUrl } })
  for (const reason of ['rejected', 'vectors of 0'])
    await expect(inlay.start()).rejects.toThrow(
      new RegExp(`"m" did not answer how long its vectors are: .*${reason}.*Set the dimensions`),
    )
  await inlay.start()
  expect((await inlay.knowledge.embedder()).configured).toBe('openai/m@8')
})
