import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { StandIn } from '../stand-in/model-server.ts'
import { startOpenAi } from '../stand-in/openai.ts'
import { startPlayground, type Playground } from './playground.ts'
import { answered, ask, faultsOf, open, reason, shot } from './visit.ts'

describe.skipIf(reason !== undefined)('an installation without a model', () => {
  let model: StandIn
  let playground: Playground
  beforeAll(async () => {
    model = await startOpenAi(() => [{ text: 'I was added on the page.' }])
    playground = await startPlayground({
      INLAY_SECRET_KEY: 'a-random-text-of-the-host',
      INLAY_EGRESS_ALLOW: new URL(model.origin).host,
      INLAY_LOCAL_MODELS: 'off',
    })
    await playground.printed('searchable after')
  })
  afterAll(async () => {
    expect(await playground?.end()).toBe(0)
    await model?.close()
  })

  test('gets one on the page: added, tried, made the default, asked in a chat and removed', async () => {
    const page = await open(playground.address)
    await page.getByRole('link', { name: 'Administration' }).click()
    const form = page.getByRole('form', { name: 'Add a model' })
    await form.getByLabel('Name in lists').fill('Ours')
    await form.getByLabel('Address of the API').fill(`${model.origin}/v1`)
    await form.getByLabel('Key').fill('sk-unguessable-hunter2')
    await form.getByLabel('Names of the models').fill('gpt-4o')
    expect(await faultsOf(page)).toEqual([])
    await form.getByRole('button', { name: 'Add the model' }).click()
    await page.getByRole('heading', { name: 'gpt-4o' }).waitFor()
    await page.getByRole('button', { name: 'Test gpt-4o' }).click()
    await page.getByText(/Answered “I was added on the page\.” in \d+ ms\./).waitFor()
    await page.getByRole('button', { name: 'Make default: gpt-4o' }).click()
    await page.getByRole('button', { name: 'Make default: gpt-4o' }).waitFor({ state: 'detached' })
    await shot(page, 'model-added')
    expect(await faultsOf(page)).toEqual([])
    expect(await page.content()).not.toContain('hunter2')

    await page.getByRole('button', { name: 'New chat', exact: true }).click()
    await page.locator('.model', { hasText: 'gpt-4o' }).waitFor()
    await ask(page, 'Hello, who are you?')
    await (await answered(page)).getByText('I was added on the page.').waitFor()
    expect(model.requests.at(-1)?.headers.authorization).toBe('Bearer sk-unguessable-hunter2')

    await page.getByRole('link', { name: 'Administration' }).click()
    await page.getByRole('button', { name: 'Delete gpt-4o' }).click()
    await page.getByRole('group', { name: 'Delete Ours?' }).getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'gpt-4o' }).waitFor({ state: 'detached' })
  })
})
