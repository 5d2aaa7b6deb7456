import type { UserConfig } from 'tsdown'
import { bundledLicences } from './bundled-licences.ts'

/**
 * LanceDB's JavaScript and Arrow in one file. Installed from npm it brings transformers, onnxruntime, sharp and openai
 * as optional dependencies, which no package that depends on it can leave out; only its native parts are needed.
 */
export const lancedbBundle: UserConfig = {
  name: 'lancedb',
  cwd: 'packages/drivers',
  entry: { native: 'src/lancedb/native.cjs' },
  outDir: 'dist/lancedb',
  format: 'cjs',
  target: 'es2024',
  dts: false,
  minify: true,
  outputOptions: { keepNames: true },
  clean: false,
  deps: { alwaysBundle: /./, neverBundle: [/^node:/, /^@lancedb\/lancedb-/], onlyBundle: false },
  plugins: [
    {
      name: 'lancedb-companions',
      // These two import the companions that are left out.
      load: (id) => (/\/lancedb\/dist\/embedding\/(openai|transformers)\.js$/.test(id) ? 'exports = {}' : undefined),
    },
    {
      name: 'native-parts',
      // Bundlers of hosts cannot read native parts: they leave this alone, while tracers of files still follow it.
      renderChunk: {
        order: 'post',
        handler: (code) => ({
          code: code.replaceAll(
            /require\((["'`])(@lancedb\/lancedb-[\w-]+)\1\)/g,
            (_call, _quote, name: string) =>
              `require("node:module").createRequire(__filename)(require.resolve("${name}"))`,
          ),
        }),
      },
    },
    bundledLicences('native.LICENSES.txt'),
  ],
}
