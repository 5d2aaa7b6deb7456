import type { Reporter, TestModule } from 'vitest/node'

const shown = 10
/** Fewer tests are looked at one by one anyway. */
const minTests = 500

/** Names the tests of a long run that took longest: what `npm test` costs stays in sight. */
export default class SlowestTests implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) =>
      [...module.children.allTests()].map((test) => ({
        name: `${module.relativeModuleId} > ${test.fullName}`,
        ms: test.diagnostic()?.duration ?? 0,
      })),
    )
    if (tests.length < minTests) return
    const seconds = (ms: number): string => `${(ms / 1000).toFixed(1).padStart(7)} s`
    console.log(`\nSlowest of ${tests.length} tests, which take ${seconds(sumOf(tests)).trim()} one after the other:`)
    for (const { name, ms } of tests.toSorted((a, b) => b.ms - a.ms).slice(0, shown))
      console.log(`${seconds(ms)}  ${name}`)
  }
}

const sumOf = (tests: readonly { readonly ms: number }[]): number => tests.reduce((sum, { ms }) => sum + ms, 0)
