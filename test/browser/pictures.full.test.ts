import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compareLayouts, describeLayout, findLayoutFaults } from './layout.ts'
import { startViewService, views, type ViewService } from './views.ts'
import { browser, reason } from './visit.ts'

const storedOf = (name: string): string[] =>
  readFileSync(join(import.meta.dirname, 'pictures', `${name}.txt`), 'utf8')
    .trimEnd()
    .split('\n')

describe.skipIf(reason !== undefined)('what people see', () => {
  let service: ViewService
  beforeAll(async () => {
    service = await startViewService()
  })
  afterAll(() => service?.close())

  // Changed on purpose? `npm run screenshots -- --store` stores what is seen now; look at the pictures it makes.
  test.each(views.map((view) => [view.name, view] as const))('looks as it is stored: %s', async (name, view) => {
    const page = await service.open(browser, view)
    try {
      // Parts of a view come in one by one.
      const differences = async (): Promise<string[]> =>
        compareLayouts(storedOf(name), await page.evaluate(describeLayout))
      await expect.poll(differences, { timeout: 10_000, interval: 200 }).toEqual([])
      expect(await page.evaluate(findLayoutFaults)).toEqual([])
    } finally {
      await page.context().close()
    }
  })
})
