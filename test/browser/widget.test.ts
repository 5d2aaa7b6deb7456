import { createClient } from '@inlay/client'
import { describe, expect, test } from 'vitest'

import { faultsOf, reason, shot } from './visit.ts'
import { answerTo, useWidgetService, visit } from './widget-page.ts'

describe.skipIf(reason !== undefined)('the element in a page of another origin', () => {
  const service = useWidgetService()

  test('a question is answered, its citation opens the passage, and a reload shows it again', async () => {
    const client = createClient({ baseUrl: `${service.playground.origin}/api`, apiKey: service.playground.key })
    const text = 'The zebra Quibble sleeps on the second floor.'
    const sections = [{ text, link: 'https://zoo.example/quibble' }]
    const fields = { id: 'zebra', semantic_identifier: 'Zebras <b>', source: 'web' as const, metadata: {} }
    await client.ingest({ ...fields, sections }, { waitSeconds: 60 })
    service.reply = ({ body }) =>
      JSON.stringify(body).includes('"role":"tool"')
        ? [{ text: 'On the **second** floor ' }, { text: '[1].' }]
        : [{ calls: [{ id: 'c1', name: 'internal_search', input: { queries: ['zebra Quibble floor'] } }] }]
    const { page, chat, complaints } = await visit(service.host)
    await chat.getByRole('button', { name: 'Open the chat' }).click()
    await expect.poll(() => chat.getByLabel('Your question').evaluate((field) => field.matches(':focus'))).toBe(true)
    const turn = await answerTo(chat, 'Where does Quibble sleep?')
    await turn.locator('strong', { hasText: 'second' }).waitFor()
    await turn.getByRole('button', { name: 'Source 1: Zebras <b>' }).click()
    await turn.locator('.excerpt', { hasText: text }).waitFor()
    expect(await turn.getByRole('link', { name: 'Open the document' }).getAttribute('href')).toBe(sections[0]?.link)
    await expect.poll(() => chat.getByRole('status').textContent()).toContain('second floor')
    await shot(page, 'widget-light')
    expect(await faultsOf(page)).toEqual([])
    await page.reload()
    await chat.getByRole('button', { name: 'Open the chat' }).click()
    await chat.locator('.turn strong', { hasText: 'second' }).waitFor()
    expect(complaints).toEqual([])
  })

  test('markup of a model is shown and does nothing', async () => {
    service.reply = () => [
      { text: '<img src=x onerror="globalThis.pwned=1"> ![p](https://tracker.example/p.png) ' },
      { text: '[a](javascript:globalThis.pwned=1) [b](java\nscript:globalThis.pwned=1) <scr' },
      { text: 'ipt>globalThis.pwned=1</script> [[1]](javascript:globalThis.pwned=1) <svg/onload=globalThis.pwned=1>' },
    ]
    const { page, chat, complaints } = await visit(service.host)
    const foreign: string[] = []
    page.on('request', (request) => {
      if (!request.url().startsWith(service.playground.origin)) foreign.push(request.url())
    })
    await chat.getByRole('button', { name: 'Open the chat' }).click()
    const turn = await answerTo(chat, 'Be evil.')
    expect(await turn.textContent()).toContain('<img src=x onerror=')
    expect(await turn.locator('img, script, svg, a:not([href^="https:"])').count()).toBe(0)
    expect(await page.evaluate(() => 'pwned' in globalThis)).toBe(false)
    expect([...foreign, ...complaints]).toEqual([])
  })
})
