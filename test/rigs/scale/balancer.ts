import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../../life/process.ts'

/** A balancer in front of some processes. */
export interface Balancer {
  readonly base: string
  stop(): Promise<void>
}

export type BalancerName = 'nginx' | 'haproxy'

const page = join(import.meta.dirname, '../../../docs/1.guide/19.several-processes.md')

/** The configuration that the guide shows, for processes on these ports. */
function documented(name: BalancerName, port: number, ports: readonly number[]): string {
  const block = new RegExp('```' + name + '\n([^]*?)```').exec(readFileSync(page, 'utf8'))?.[1]
  if (block === undefined) throw new Error(`the guide has no configuration of ${name}`)
  const hosts = ['10.0.0.1:3000', '10.0.0.2:3000', '10.0.0.3:3000']
  const named = hosts.reduce((text, host, at) => text.replaceAll(host, `127.0.0.1:${ports[at]}`), block)
  return named.replace(/\b(listen |bind :)80\b/, (_, word: string) => `${word.replace(':', '127.0.0.1:')}${port}`)
}

/** Starts Debian's own, with the documented configuration and nothing beside it but where its files lie. */
export async function startBalancer(
  name: BalancerName,
  { port, ports, folder }: { readonly port: number; readonly ports: readonly number[]; readonly folder: string },
): Promise<Balancer> {
  const file = join(folder, `${name}.conf`)
  const text = documented(name, port, ports)
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  )
  const nginx = `daemon off; pid ${folder}/nginx.pid; error_log ${folder}/nginx.log; events {}
http { access_log off; ${places.join(' ')}
${text}}`
  writeFileSync(file, name === 'nginx' ? nginx : text)
  const words = name === 'nginx' ? ['-c', file] : ['-db', '-f', file]
  const program = execFileSync('sh', ['-c', `PATH=$PATH:/usr/sbin command -v ${name}`], { encoding: 'utf8' }).trim()
  const child = spawn(program, words, { stdio: ['ignore', 'ignore', 'pipe'] })
  let errors = ''
  child.stderr.on('data', (part) => (errors += part))
  const base = `http://127.0.0.1:${port}/api`
  await eventually(`${name} answers`, async () => {
    if (child.exitCode !== null) throw new Error(`${name} ended: ${errors}`)
    const reply = await fetch(`${base}/health`).catch(() => undefined)
    return reply?.ok || undefined
  })
  return {
    base,
    stop: async () => {
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}
