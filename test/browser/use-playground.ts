import { afterAll, beforeAll, expect } from 'vitest'
import { startPlayground, type Playground } from './playground.ts'

/** A playground for the tests of a block, once it has read the project's own documentation in; it has to end well. */
export function usePlayground(): { playground: Playground } {
  const running = {} as { playground: Playground }
  beforeAll(async () => {
    running.playground = await startPlayground()
    // The documentation is read in while the page answers already.
    await running.playground.printed('searchable after')
  })
  afterAll(async () => {
    expect(await running.playground?.end()).toBe(0)
  })
  return running
}
