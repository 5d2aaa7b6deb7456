import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { defineConfig, type TestUserConfig, type ViteUserConfig } from 'vitest/config'

// Workspace packages resolve to their sources, so tests need no build.
// Without 'import' and 'default', which hold anyway: named here, Node would apply them to `require` as well, and a
// CommonJS dependency (Express) would be given the ES modules of its own dependencies.
const conditions = ['@inlay/source', 'module', 'node']
const resolution = { resolve: { conditions }, ssr: { resolve: { conditions } } }

/** Tests of one package, and tests of the product as a whole: in a process, a host app or a browser. */
const unit = [`test/{${readdirSync('packages').join(',')},playground,package}/**/*.test.ts`]
const whole = ['test/{life,mounts,browser}/**/*.test.ts']
/**
 * What kills processes, starts browsers, databases or long programs, or tries thousands of cases stands in files of
 * this name, beside a file with a case or two of it. `npm test` leaves it out, `npm run test:full` runs it as well.
 */
const full = ['test/**/*.full.test.ts']
/** Tests that make their cases up run in both: few cases at first, many with the full ones. */
const scaled = ['test/**/*.scaled.test.ts']

// A slow and busy machine is no fault: nothing waits so long unless it hangs.
const patience = { testTimeout: 300_000, hookTimeout: 300_000 }
// Set before any engine is imported: no telemetry, no index chatter on stderr.
const env = { MASTRA_TELEMETRY_DISABLED: '1', LANCEDB_LOG: 'error' }
const manyCases = { ...env, INLAY_TEST_CASES: 'many' }
// What is polled for comes late on a busy machine; the default gives it a second.
const expectations = { poll: { timeout: 60_000 } }
const project = (test: TestUserConfig): ViteUserConfig => ({
  ...resolution,
  test: { env, expect: expectations, ...test },
})

const config: ViteUserConfig = defineConfig({
  ...resolution,
  test: {
    // Tests wait for timers, files and other processes: with one less, two cores stood idle for a fifth of the time.
    maxWorkers: availableParallelism() + 2,
    globalSetup: './test/temporary-files.ts',
    reporters: ['default', './test/slowest-tests.ts'],
    projects: [
      // Files share a process: nothing of a test stays in its modules.
      project({ name: 'unit', include: unit, exclude: full, isolate: false, ...patience }),
      project({ name: 'whole', include: whole, exclude: full, pool: 'forks', ...patience }),
      project({ name: 'full', include: [...full, ...scaled], pool: 'forks', ...patience, env: manyCases }),
    ],
  },
})

export default config
