import type { ConformanceTest } from '@inlay/conformance'

/**
 * Runs tests one after the other and prints the result of each; the process fails at its end when one failed.
 * @param clear removes the data of a test
 */
export async function runAll(
  name: string,
  tests: readonly ConformanceTest[],
  clear: () => Promise<void> = async () => {},
): Promise<void> {
  const only = process.argv[2]
  let failed = 0
  const chosen = tests.filter(([title]) => only === undefined || title.includes(only))
  for (const [title, run] of chosen) {
    try {
      await run()
    } catch (error) {
      failed++
      process.stdout.write(`✗ ${name}: ${title}\n  ${error instanceof Error ? error.stack : String(error)}\n`)
      if (error instanceof Error && error.cause) process.stdout.write(`  ${String(error.cause)}\n`)
    }
    await clear()
  }
  process.stdout.write(`${name}: ${chosen.length - failed} passed, ${failed} failed\n`)
  if (failed > 0) process.exitCode = 1
}
