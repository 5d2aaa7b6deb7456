import { defineConfig, type ViteUserConfig } from 'vitest/config'

// Workspace packages resolve to their sources, so tests need no build.
// Without 'import' and 'default', which hold anyway: named here, Node would apply them to `require` as well, and a
// CommonJS dependency (Express) would be given the ES modules of its own dependencies.
const conditions = ['@inlay/source', 'module', 'node']
const resolution = { resolve: { conditions }, ssr: { resolve: { conditions } } }

// Tests with real processes and sockets depend on how busy a shared machine is: there, a failure must happen twice.
const retry = process.env['CI'] ? 1 : 0

const config: ViteUserConfig = defineConfig({
  ...resolution,
  test: {
    // Set before any engine is imported: no telemetry, no index chatter on stderr.
    env: { MASTRA_TELEMETRY_DISABLED: '1', LANCEDB_LOG: 'error' },
    projects: [
      {
        ...resolution,
        test: {
          name: 'unit',
          include: [
            'test/{protocol,client,records,knowledge,agent,drivers,server,inlay,extractive,mastra,python,playground,package}/**/*.test.ts',
          ],
          testTimeout: 20_000,
          retry,
        },
      },
      {
        ...resolution,
        test: {
          name: 'whole',
          include: ['test/{life,mounts,browser}/**/*.test.ts'],
          pool: 'forks',
          testTimeout: 120_000,
          hookTimeout: 60_000,
          retry,
        },
      },
    ],
  },
})

export default config
