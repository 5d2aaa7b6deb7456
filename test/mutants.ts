/** Wrong implementations that a conformance suite has to catch. */
import type { ConformanceTest } from '@inlay/conformance'
import { expect, test } from 'vitest'

/** A wrong implementation by what is wrong with it. */
export type Mutants<Mutant> = Readonly<Record<string, Mutant>>

/**
 * Adds two tests: the sound implementation passes, and each of at least ten mutants is caught. Which test of the suite
 * catches a mutant first stands in a file of the folder `caught` beside the caller; a mutant that survives fails by name.
 * @param suite gives the tests for an implementation; each call makes a new one
 */
export function testMutants<Mutant>(
  name: string,
  suite: (mutant: Mutant) => readonly ConformanceTest[],
  { sound, mutants }: { readonly sound: Mutant; readonly mutants: Mutants<Mutant> },
): void {
  test(`${name}: the sound implementation passes`, async () => {
    expect(await firstCatch(suite(sound))).toBeUndefined()
  })
  test(`${name}: every mutant is caught`, async () => {
    const lines: string[] = []
    const survivors: string[] = []
    for (const [mistake, mutant] of Object.entries(mutants)) {
      const title = await firstCatch(suite(mutant))
      if (title === undefined) survivors.push(mistake)
      else lines.push(`${mistake}\n  is caught by: ${title}\n`)
    }
    expect(survivors).toEqual([])
    expect(lines.length).toBeGreaterThanOrEqual(10)
    await expect(lines.join('')).toMatchFileSnapshot(`caught/${name.replaceAll(' ', '-')}.txt`)
  })
}

/** Title of the first test that fails. */
async function firstCatch(tests: readonly ConformanceTest[]): Promise<string | undefined> {
  for (const [title, run] of tests) {
    const isCaught = await run().then(
      () => false,
      () => true,
    )
    if (isCaught) return title
  }
  return undefined
}
