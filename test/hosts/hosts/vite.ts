import type { Host } from '../host.ts'

const ownPage = `new Response('own page')`
const ownGreeting = `new Response('hello ' + (await request.json()).name)`
const react = { react: '19.3.1', 'react-dom': '19.3.1', typescript: '5.9.3', '@types/node': '24.10.1' }
const tsconfig = JSON.stringify({
  compilerOptions: {
    target: 'ES2022',
    lib: ['dom', 'dom.iterable', 'esnext'],
    module: 'esnext',
    moduleResolution: 'bundler',
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    jsx: 'react-jsx',
  },
})
const ownResource = `export const loader = () => ${ownPage}
export const action = async ({ request }: { request: Request }) => ${ownGreeting}
`

const svelteKit: Omit<Host, 'name'> = {
  section: 'SvelteKit',
  inlayFile: 'src/lib/server/inlay.ts',
  dependencies: { '@sveltejs/vite-plugin-svelte': '7.3.1', svelte: '5.57.3', vite: '8.3.8' },
  files: {
    'src/app.html': '<html><head>%sveltekit.head%</head><body>%sveltekit.body%</body></html>',
    'src/routes/+page.svelte': '<h1>My app</h1>',
    'src/routes/own/+server.ts': `export const GET = () => ${ownPage}
export const POST = async ({ request }) => ${ownGreeting}
`,
  },
  builds: [['vite', 'build']],
  start: () => ['node', 'build'],
  needsOrigin: true,
}

const tanstackStart: Omit<Host, 'name' | 'start'> = {
  section: 'TanStack Start',
  inlayFile: 'src/inlay.ts',
  dependencies: {
    ...react,
    '@tanstack/react-start': '1.169.5',
    '@tanstack/react-router': '1.170.46',
    '@vitejs/plugin-react': '6.0.0',
    vite: '8.3.8',
  },
  files: {
    'tsconfig.json': tsconfig,
    'src/router.tsx': `import { createRouter } from '@tanstack/react-router'
import { routeTree } from './routeTree.gen'
export const getRouter = () => createRouter({ routeTree })
`,
    'src/routes/__root.tsx': `import { createRootRoute, HeadContent, Outlet, Scripts } from '@tanstack/react-router'
export const Route = createRootRoute({ component: Root })
function Root() {
  return <html><head><HeadContent /></head><body><Outlet /><Scripts /></body></html>
}
`,
    'src/routes/index.tsx': `import { createFileRoute } from '@tanstack/react-router'
export const Route = createFileRoute('/')({ component: () => <h1>My app</h1> })
`,
    'src/routes/own.ts': `import { createFileRoute } from '@tanstack/react-router'
export const Route = createFileRoute('/own')({
  server: {
    handlers: {
      GET: () => ${ownPage},
      POST: async ({ request }) => ${ownGreeting},
    },
  },
})
`,
  },
  builds: [['vite', 'build']],
}

/** Hosts that Vite builds. */
export const viteHosts: readonly Host[] = [
  {
    ...svelteKit,
    name: 'SvelteKit',
    dependencies: {
      '@sveltejs/kit': '2.70.4',
      '@sveltejs/adapter-node': '5.5.7',
      ...svelteKit.dependencies,
    },
    env: (port) => ({ BODY_SIZE_LIMIT: 'Infinity', ORIGIN: `http://localhost:${port}` }),
  },
  {
    ...svelteKit,
    name: 'SvelteKit 3',
    dependencies: {
      '@sveltejs/kit': '3.2.0',
      '@sveltejs/adapter-node': '6.0.1',
      ...svelteKit.dependencies,
    },
    edit: (code) =>
      code.replace('adapter: adapter()', "adapter: adapter(), paths: { origin: 'https://app.example.com' }"),
    env: () => ({ BODY_SIZE_LIMIT: 'Infinity' }),
  },
  {
    name: 'Astro',
    section: 'Astro',
    inlayFile: 'src/inlay.ts',
    dependencies: { astro: '7.3.5', '@astrojs/node': '11.1.6' },
    files: {
      'src/pages/index.astro': '<h1>My app</h1>',
      'src/pages/own.ts': `export const prerender = false
export const GET = () => ${ownPage}
export const POST = async ({ request }) => ${ownGreeting}
`,
    },
    builds: [['astro', 'build']],
    start: () => ['node', 'dist/server/entry.mjs'],
    env: () => ({ HOST: '127.0.0.1' }),
    needsOrigin: true,
  },
  {
    name: 'React Router',
    section: 'React Router',
    inlayFile: 'app/inlay.server.ts',
    dependencies: {
      ...react,
      'react-router': '8.4.0',
      '@react-router/dev': '8.4.0',
      '@react-router/node': '8.4.0',
      '@react-router/serve': '8.4.0',
      isbot: '5.1.28',
      vite: '8.3.8',
    },
    files: {
      'tsconfig.json': tsconfig,
      'vite.config.ts': `import { reactRouter } from '@react-router/dev/vite'
export default { plugins: [reactRouter()] }
`,
      'app/root.tsx': `import { Outlet } from 'react-router'
export default function Root() { return <html><body><Outlet /></body></html> }
`,
      'app/routes/home.tsx': 'export default function Home() { return <h1>My app</h1> }\n',
      'app/routes/own.ts': ownResource,
      'app/routes.ts': `import { index, route } from '@react-router/dev/routes'
export default [
  index('routes/home.tsx'),
  route('own', 'routes/own.ts'),
  route('assistant/*', 'routes/assistant.ts'),
]
`,
    },
    builds: [['react-router', 'build']],
    start: () => ['node', 'node_modules/@react-router/serve/bin.cjs', 'build/server/index.js'],
  },
  {
    ...tanstackStart,
    name: 'TanStack Start',
    takes: ['src/routes/assistant.$.ts'],
    dependencies: { ...tanstackStart.dependencies, srvx: '1.0.8' },
    files: {
      ...tanstackStart.files,
      'vite.config.ts': `import { tanstackStart } from '@tanstack/react-start/plugin/vite'
import react from '@vitejs/plugin-react'
export default { plugins: [tanstackStart(), react()] }
`,
    },
    start: (port) =>
      `node_modules/.bin/srvx --prod --port ${port} --static ../client --entry dist/server/server.js`.split(' '),
  },
  {
    ...tanstackStart,
    name: 'TanStack Start with Nitro',
    dependencies: { ...tanstackStart.dependencies, nitro: '3.0.260610-beta' },
    start: () => ['node', '.output/server/index.mjs'],
  },
]
