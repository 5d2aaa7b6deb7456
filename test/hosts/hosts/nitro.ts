import type { Host } from '../host.ts'

/** Hosts that Nitro builds. */
export const nitroHosts: readonly Host[] = [
  {
    name: 'Nitro',
    section: 'Nitro',
    dependencies: { nitro: '3.0.0' },
    files: {
      'nitro.config.ts':
        "import { defineConfig } from 'nitro/config'\nexport default defineConfig({ serverDir: './' })\n",
      'routes/own.get.ts': "export default () => 'own page'\n",
      'routes/own.post.ts': "export default async (event) => 'hello ' + (await event.req.json()).name\n",
    },
    builds: [['nitro', 'build']],
    start: () => ['node', '.output/server/index.mjs'],
  },
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
