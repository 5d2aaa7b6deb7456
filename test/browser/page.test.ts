import { describe, expect, test } from 'vitest'
import { usePlayground } from './use-playground.ts'
import { answered, ask, open, reason, shot } from './visit.ts'

describe.skipIf(reason !== undefined)('the page', () => {
  const running = usePlayground()

  test('a question shows its search, then an answer whose numbers lead to the quoted passage', async () => {
    const page = await open(running.playground.address)
    await ask(page, 'How are citations checked?')
    const turn = await answered(page)
    await turn.getByText(/Searched your documents, \d+ found/).waitFor()
    // The query equals the question, which is shown above it.
    expect(await turn.locator('.query').count()).toBe(0)
    await turn.locator('.citation').first().click()
    const source = turn.locator('.source.shown')
    await source.waitFor()
    expect(await source.evaluate((element) => element === document.activeElement)).toBe(true)
    await expect.poll(() => source.evaluate((element) => element.getBoundingClientRect().top >= 0)).toBe(true)
    await source.locator('.passage.open mark.quote').first().waitFor()
    await shot(page, 'cited-desktop-light')
    await source.getByRole('button', { name: 'Back to the answer' }).click()
    expect(
      await turn
        .locator('.citation')
        .first()
        .evaluate((element) => element === document.activeElement),
    ).toBe(true)
  })
})
