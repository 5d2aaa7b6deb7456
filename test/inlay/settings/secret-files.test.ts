import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInlay, readSettings } from 'inlay'
import { expect, onTestFinished, test } from 'vitest'
import { startEmbeddings } from '../../stand-in/embeddings.ts'
import { startOpenAi } from '../../stand-in/openai.ts'
import { temporaryFolder } from '../../life/process.ts'

function secretFile(text: string): string {
  const { path, remove } = temporaryFolder()
  onTestFinished(remove)
  const file = join(path, 'secret')
  writeFileSync(file, text)
  return file
}

test('a secret is read from the file of its variable, without the line end', () => {
  for (const text of ['a random key of files', 'a random key of files\n', 'a random key of files\r\n'])
    expect(readSettings({ INLAY_SECRET_KEY_FILE: secretFile(text) })).toMatchObject({
      options: { secretKey: 'a random key of files' },
      warnings: [],
    })
  expect(readSettings({ INLAY_DATA_FILE: '/x', INLAY_SECRET_KEY_FILE: ' ' }).warnings).toEqual([
    'INLAY_DATA_FILE is not a setting of Inlay and has no effect.',
  ])
})

test('a file that is missing, empty, or named beside its value is refused by its path, and all of them at once', () => {
  const empty = secretFile('\n')
  const env = {
    INLAY_SECRET_KEY_FILE: '/nowhere/key',
    INLAY_DATABASE_URL_FILE: empty,
    INLAY_API_KEY: 'the-value-of-the-key',
    INLAY_API_KEY_FILE: secretFile('the-key-of-the-file'),
    INLAY_REDIS_URL_FILE: secretFile('http://wrong-address-of-redis'),
  }
  const lines = ((): string[] => {
    try {
      readSettings(env)
      return []
    } catch (error) {
      return (error as Error).message.split('\n')
    }
  })()
  expect(lines.toSorted()).toEqual([
    'INLAY_API_KEY_FILE: INLAY_API_KEY is set, too; set only one of them.',
    `INLAY_DATABASE_URL_FILE: the file ${empty} is empty.`,
    expect.stringMatching(/^INLAY_REDIS_URL: the value given is not allowed/),
    'INLAY_SECRET_KEY_FILE: the file /nowhere/key cannot be read (ENOENT).',
  ])
})

test('keys of models in files are replaced while it runs', async () => {
  const model = await startOpenAi(() => [{ text: 'Yes.' }])
  const embedder = await startEmbeddings({ dimensions: 8 })
  onTestFinished(async () => void (await Promise.all([model.close(), embedder.close()])))
  const files = [secretFile('first-key-of-model\n'), secretFile('first-key-of-embedder\n')] as const
  const { options } = readSettings({
    INLAY_MODEL: 'gpt-4o',
    INLAY_MODEL_BASE_URL: `${model.origin}/v1`,
    INLAY_MODEL_API_KEY_FILE: files[0],
    INLAY_EMBEDDING_MODEL: 'letters',
    INLAY_EMBEDDING_BASE_URL: embedder.baseUrl,
    INLAY_EMBEDDING_DIMENSIONS: '8',
    INLAY_EMBEDDING_API_KEY_FILE: files[1],
  })
  const { path, remove } = temporaryFolder()
  onTestFinished(remove)
  const inlay = createInlay({ ...options, dataFolder: path, apiKey: 'inlay_key-of-rotation' })
  onTestFinished(() => inlay.close())
  const call = async (address: string, body: object): Promise<void> => {
    const headers = { authorization: 'Bearer inlay_key-of-rotation' }
    const request = new Request(`http://host.example/api${address}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    expect((await inlay.fetch(request)).status).toBe(200)
  }
  const sentKeys = async (text: string): Promise<unknown[]> => {
    await call('/chat/send-chat-message', { message: 'Is it?', stream: false })
    await call('/service-api/ingestion', {
      document: { id: text, semantic_identifier: text, metadata: {}, sections: [{ text }] },
    })
    await expect.poll(() => inlay.knowledge.status(text)).toMatchObject({ phase: 'indexed' })
    return [model.requests.at(-1)!.headers['authorization'], embedder.seen.at(-1)!.authorization]
  }
  expect(await sentKeys('heron')).toEqual(['Bearer first-key-of-model', 'Bearer first-key-of-embedder'])
  writeFileSync(files[0], 'second-key-of-model\n')
  writeFileSync(files[1], 'second-key-of-embedder\n')
  expect(await sentKeys('stork')).toEqual(['Bearer second-key-of-model', 'Bearer second-key-of-embedder'])
  // Between an old file and a new one there may be none.
  writeFileSync(files[0], '')
  await call('/chat/send-chat-message', { message: 'Is it?', stream: false })
  expect(model.requests.at(-1)!.headers['authorization']).toBe('Bearer first-key-of-model')
})
