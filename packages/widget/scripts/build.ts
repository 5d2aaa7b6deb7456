/** Builds the widget: one classic script, minified, with everything in it. */
import { join } from 'node:path'
import { build, type InlineConfig } from 'vite'

const root = join(import.meta.dirname, '..')

/** One classic script, for pages without modules. */
export const widgetConfig: InlineConfig = {
  root,
  configFile: false,
  logLevel: 'warn',
  resolve: { conditions: ['@inlay/source', 'module', 'browser', 'import', 'default'] },
  build: {
    outDir: 'dist',
    emptyOutDir: false,
    target: 'es2022',
    minify: true,
    reportCompressedSize: false,
    lib: { entry: 'src/index.ts', formats: ['iife'], name: 'InlayChat', fileName: () => 'inlay-chat.js' },
  },
}

/** Writes `dist/inlay-chat.js`. */
export async function buildWidget(): Promise<void> {
  await build(widgetConfig)
}

if (import.meta.main) await buildWidget()
