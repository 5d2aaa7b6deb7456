import { defineConfig, type ViteUserConfig } from 'vitest/config'

// Workspace packages resolve to their sources, so tests need no build.
const conditions = ['@inlay/source', 'module', 'import', 'node', 'default']
const resolution = { resolve: { conditions }, ssr: { resolve: { conditions } } }

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
          include: ['test/{protocol,client,knowledge,agent,drivers,server,inlay,playground,package}/**/*.test.ts'],
          testTimeout: 20_000,
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
        },
      },
    ],
  },
})

export default config
