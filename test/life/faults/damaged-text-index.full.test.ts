import { readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInlay } from 'inlay'
import { expect, onTestFinished, test } from 'vitest'
import { fakeEmbedder } from '../../knowledge/fake-embedder.ts'
import { testFolder } from '../harness.ts'

const apiKey = 'inlay_key-of-the-damaged-index'
const damages: Readonly<Record<string, (file: string) => void>> = {
  zeroed: (file) => writeFileSync(file, Buffer.alloc(statSync(file).size)),
  'cut off': (file) => truncateSync(file, statSync(file).size >> 1),
  removed: (file) => rmSync(file),
}

test.each(Object.keys(damages))(
  'a search that meets %s parts of the text index is 503 until what it looks for is indexed again',
  async (how) => {
    const dataFolder = testFolder()
    const gate = Promise.withResolvers<void>()
    onTestFinished(() => gate.resolve())
    let isHeld = false
    const fake = fakeEmbedder()
    const embed: typeof fake.embed = async (texts, kind, ...rest) => {
      if (isHeld && kind === 'document') await gate.promise
      return fake.embed(texts, kind, ...rest)
    }
    const open = () => {
      const opened = createInlay({ dataFolder, apiKey, embedder: { ...fake, embed }, onError: () => {} })
      onTestFinished(() => opened.close())
      return opened
    }
    const first = open()
    for (let at = 0; at < 30; at++)
      await first.knowledge.accept({
        document: { id: `d${at}`, semantic_identifier: `D${at}`, metadata: {}, sections: [{ text: `heron ${at}` }] },
      })
    await first.knowledge.whenIdle()
    await expect.poll(async () => (await first.knowledge.figures()).index.unindexedRows).toBe(0)
    await first.close()

    const index = join(dataFolder, 'index')
    const parts = readdirSync(index, { recursive: true }).filter((name) => /part_\d+_\w+\.lance$/.test(String(name)))
    expect(parts).not.toEqual([])
    for (const name of parts) damages[how]!(join(index, String(name)))

    isHeld = true
    const { fetch } = open()
    const call = async (path: string, body?: object) => {
      const headers = { authorization: `Bearer ${apiKey}` }
      const request = body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers }
      const response = await fetch(new Request(`http://host.example/api${path}`, request))
      const answer = (await response.json()) as { error_code?: string; results?: unknown[]; message?: string }
      return { status: response.status, retryAfter: response.headers.get('retry-after'), ...answer }
    }
    const search = () => call('/search', { query: 'heron' })
    for (const _ of [1, 2, 3])
      expect(await search()).toMatchObject({ status: 503, error_code: 'SERVICE_UNAVAILABLE', retryAfter: '5' })
    expect(await call('/health/ready')).toMatchObject({ status: 200, message: 'ok; the index is being rebuilt' })
    isHeld = false
    gate.resolve()
    await expect.poll(async () => (await search()).results?.length, { timeout: 20_000 }).toBeGreaterThan(0)
  },
)
