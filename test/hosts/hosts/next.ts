import type { Host } from '../host.ts'

const files = {
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      target: 'ES2022',
      lib: ['dom', 'dom.iterable', 'esnext'],
      strict: true,
      noEmit: true,
      module: 'esnext',
      moduleResolution: 'bundler',
      resolveJsonModule: true,
      isolatedModules: true,
      jsx: 'react-jsx',
      incremental: true,
      plugins: [{ name: 'next' }],
      paths: { '@/*': ['./*'] },
    },
    include: ['next-env.d.ts', '**/*.ts', '**/*.tsx'],
    exclude: ['node_modules'],
  }),
  'app/layout.tsx': `export default function Layout({ children }: { children: React.ReactNode }) {
  return <html><body>{children}</body></html>
}
`,
  'app/page.tsx': `export default function Page() { return <h1>My app</h1> }\n`,
  'app/own/route.ts': `export const GET = () => new Response('own page')
export const POST = async (request: Request) => new Response('hello ' + (await request.json()).name)
`,
}

const base: Omit<Host, 'name'> = {
  section: 'Next.js',
  inlayFile: 'lib/inlay.ts',
  dependencies: {
    next: '16.4.6',
    react: '19.3.1',
    'react-dom': '19.3.1',
    typescript: '5.9.3',
    '@types/react': '19.2.2',
    '@types/node': '24.10.1',
  },
  files,
  builds: [['next', 'build']],
  start: (port) => ['node', 'node_modules/next/dist/bin/next', 'start', '-p', String(port)],
}

/** Next.js as each of its bundlers and outputs makes it. */
export const next: readonly Host[] = [
  { ...base, name: 'Next.js' },
  { ...base, name: 'Next.js webpack', builds: [['next', 'build', '--webpack']] },
  {
    ...base,
    name: 'Next.js standalone',
    edit: (code) => code.replace('{ serverExternalPackages', "{ output: 'standalone', serverExternalPackages"),
    start: () => ['node', '.next/standalone/server.js'],
    env: () => ({ HOSTNAME: '127.0.0.1' }),
  },
]
