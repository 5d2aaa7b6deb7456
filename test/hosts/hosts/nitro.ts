import type { Host } from '../host.ts'

const nitro3: Omit<Host, 'name'> = {
  section: 'Nitro',
  takes: ['server/routes/assistant/[...path].ts', 'nitro.config.ts'],
  files: {
    'server/routes/own.get.ts': "export default () => 'own page'\n",
    'server/routes/own.post.ts': "export default async (event) => 'hello ' + (await event.req.json()).name\n",
  },
  builds: [['nitro', 'build']],
  start: () => ['node', '.output/server/index.mjs'],
}

/** Hosts that Nitro builds. */
export const nitroHosts: readonly Host[] = [
  {
    name: 'Nitro',
    section: 'Nitro',
    takes: ['routes/assistant/[...path].ts'],
    dependencies: { nitropack: '2.13.6' },
    files: {
      'nitro.config.ts': "export default { compatibilityDate: '2026-01-01' }\n",
      'routes/own.get.ts': "export default defineEventHandler(() => 'own page')\n",
      'routes/own.post.ts':
        "export default defineEventHandler(async (event) => 'hello ' + (await readBody(event)).name)\n",
    },
    builds: [['nitropack', 'build']],
    start: () => ['node', '.output/server/index.mjs'],
  },
  { ...nitro3, name: 'Nitro 3', dependencies: { nitro: '3.0.0' } },
  { ...nitro3, name: 'Nitro 3 beta', dependencies: { nitro: '3.0.260903-beta' } },
  {
    name: 'Nuxt',
    section: 'Nuxt',
    inlayFile: 'server/inlay.ts',
    dependencies: { nuxt: '4.5.2', vue: '3.5.26', 'vue-router': '4.6.4' },
    files: {
      'nuxt.config.ts': "export default defineNuxtConfig({ compatibilityDate: '2026-01-01' })\n",
      'app/app.vue': '<template><h1>My app</h1></template>\n',
      'server/routes/own.get.ts': "export default defineEventHandler(() => 'own page')\n",
      'server/routes/own.post.ts':
        "export default defineEventHandler(async (event) => 'hello ' + (await readBody(event)).name)\n",
    },
    builds: [['nuxt', 'build']],
    start: () => ['node', '.output/server/index.mjs'],
  },
]
