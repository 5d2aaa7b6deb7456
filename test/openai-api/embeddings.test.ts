import { OpenAIEmbeddings } from '@langchain/openai'
import { expect, test } from 'vitest'
import { apiKey, openAssistant } from './setting.ts'

/** Vectors that say the length of their text. */
const embedder = {
  id: 'measured/length@2',
  dimensions: 2,
  maxBatchSize: 2,
  embed: async (texts: readonly string[]) => texts.map((text) => new Float32Array([text.length, 0.5])),
}

test('vectors come in the order of the texts, as base64 or numbers', async () => {
  const { client, fetch } = openAssistant({ embedder })
  const input = ['a', 'bcd', 'a', 'ef']
  // The client asks for base64 by itself.
  for (const encoding of [{}, { encoding_format: 'float' as const }]) {
    const answer = await client.embeddings.create({ model: 'measured/length', input, ...encoding })
    expect(answer.data.map(({ index, embedding }) => [index, ...embedding])).toEqual([
      [0, 1, 0.5],
      [1, 3, 0.5],
      [2, 1, 0.5],
      [3, 2, 0.5],
    ])
    expect(answer.usage.total_tokens).toBe(4)
  }
  const configuration = { baseURL: 'http://inlay.test/v1', fetch }
  const langchain = new OpenAIEmbeddings({ model: 'length', apiKey, configuration })
  expect(await langchain.embedQuery('four')).toEqual([4, 0.5])
})

test('what cannot be embedded names the field', async () => {
  const { client } = openAssistant({ embedder })
  const create = (body: object): Promise<unknown> =>
    client.embeddings.create({ model: 'inlay', input: 'text', ...body } as never)
  await expect(create({ input: [1, 2] })).rejects.toMatchObject({
    status: 400,
    param: 'input',
    message: expect.stringContaining('Tokens'),
  })
  for (const input of ['x'.repeat(4 * 8192 + 1), Array.from({ length: 40 }, () => 'x'.repeat(4 * 8000))])
    await expect(create({ input })).rejects.toMatchObject({
      status: 400,
      param: 'input',
      message: expect.stringMatching(/about \d+ tokens, more than (8192|300000):/),
    })
  await expect(create({ input: [] })).rejects.toMatchObject({ status: 400, param: 'input' })
  await expect(create({ dimensions: 3 })).rejects.toMatchObject({ status: 400, param: 'dimensions' })
  await expect(create({ model: 'ada' })).rejects.toMatchObject({ status: 404, code: 'model_not_found' })
  const without = openAssistant().client.embeddings.create({ model: 'inlay', input: 'text' })
  await expect(without).rejects.toMatchObject({
    status: 501,
    message: expect.stringContaining('INLAY_EMBEDDING_MODEL or the option embedder'),
  })
})

test('addresses that are not served say what to use', async () => {
  const { client } = openAssistant()
  const completion = client.completions.create({ model: 'inlay', prompt: 'x' })
  await expect(completion).rejects.toMatchObject({
    status: 404,
    message: expect.stringContaining('is_chat_model=True'),
  })
  await expect(client.get('/threads/t/messages')).rejects.toMatchObject({
    message: expect.stringContaining('/v1/responses'),
  })
  const speech = client.audio.speech.create({ model: 'x', voice: 'y', input: 'z' })
  await expect(speech).rejects.toMatchObject({
    status: 404,
    message: expect.stringContaining('/v1/audio is not served'),
  })
})
