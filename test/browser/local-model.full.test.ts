import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { StandIn } from '../stand-in/model-server.ts'
import { startOpenAi } from '../stand-in/openai.ts'
import { startPlayground, type Playground } from './playground.ts'
import { answered, ask, open, reason } from './visit.ts'

describe.skipIf(reason !== undefined)('a model of this machine', () => {
  let ollama: StandIn
  let playground: Playground
  beforeAll(async () => {
    ollama = await startOpenAi([[{ text: 'I am the local model.' }]], { '/api/tags': { models: [{ name: 'gemma3' }] } })
    playground = await startPlayground({ OLLAMA_HOST: new URL(ollama.origin).host })
    await playground.printed('searchable after')
  })
  afterAll(async () => {
    expect(await playground?.end()).toBe(0)
    await ollama?.close()
  })

  test('is offered, answers after one press, and is left again after another', async () => {
    const page = await open(playground.address)
    const offer = page.locator('.local-model')
    await offer.getByText('Ollama runs on the machine of this server').waitFor()
    await offer.getByText('Questions and the passages found then go to it, and nowhere else.').waitFor()
    expect(ollama.requests).toEqual([])

    await offer.getByRole('button', { name: 'Let gemma3 answer' }).click()
    await page.locator('.model', { hasText: 'gemma3 (Ollama)' }).waitFor()
    await ask(page, 'Hello, who are you?')
    await (await answered(page)).getByText('I am the local model.').waitFor()

    await page.getByRole('button', { name: 'New chat', exact: true }).click()
    await offer.getByRole('button', { name: 'Use the built-in model again' }).click()
    await page.locator('.model', { hasText: 'quotes your documents' }).waitFor()
    await offer.getByRole('button', { name: 'Let gemma3 answer' }).waitFor()
  })
})
