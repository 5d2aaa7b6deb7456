import { defineConfig, type UserConfig } from 'vite'

const config: UserConfig = defineConfig({
  // Workspace packages are read from their sources, so the page builds without building them first.
  resolve: { conditions: ['@inlay/source', 'module', 'browser', 'import', 'default'] },
  build: {
    target: 'es2023',
    // Nothing is inlined: the page's policy takes scripts and styles from files only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // All that the first view needs in one script. By itself the bundler puts what lazy views share into others.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'page', test: /src[\\/]main\.tsx$/ }] } } },
  },
})

export default config
