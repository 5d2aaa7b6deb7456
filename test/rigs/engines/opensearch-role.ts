import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { opensearchIndex } from '@inlay/drivers/opensearch'
import { vectorIndexConformance } from '@inlay/conformance'
import type { IndexRow, VectorIndex } from '@inlay/knowledge'
import { createInlay } from 'inlay'
import { parse } from 'yaml'
import { eventually, temporaryFolder } from '../../life/process.ts'
import { administrator, startCluster } from './opensearch-cluster.ts'
import { runAll } from './run-all.ts'

interface Role {
  readonly cluster_permissions: readonly string[]
  readonly index_permissions: readonly [
    { readonly index_patterns: readonly string[]; readonly allowed_actions: readonly string[] },
  ]
}

const [username, password] = ['assistant', 'a-Password-0f-the-check']

/** Tries the role of `docs/10.security.md`: with it all works, and without any one of its rights something is refused. */
export async function tryRole(): Promise<void> {
  const [, text] = /```yaml\n(inlay:\n[^`]+)```/.exec(readFileSync('docs/10.security.md', 'utf8'))!
  const { inlay: role } = parse(text!) as { inlay: Role }
  const cluster = await startCluster(undefined, undefined, 1, true)
  const [node] = cluster.nodes as [string]
  const administer = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const headers = { ...administrator, 'content-type': 'application/json' }
    const reply = await fetch(node + path, { method, headers, body: body === undefined ? null : JSON.stringify(body) })
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`)
    return reply.json()
  }
  const give = (rights: Role): Promise<unknown> => administer('PUT', '/_plugins/_security/api/roles/inlay', rights)
  const make = (name: string): VectorIndex =>
    opensearchIndex({
      nodes: node,
      prefix: `inlay-${name.toLowerCase().replace(/[^a-z0-9]/g, '-')}`,
      username,
      password,
    })
  try {
    await give(role)
    const user = { password, opendistro_security_roles: ['inlay'] }
    await administer('PUT', `/_plugins/_security/api/internalusers/${username}`, user)
    // By default each user has it, with rights on the whole cluster.
    await administer('DELETE', '/_plugins/_security/api/rolesmapping/own_index')
    await runAll('with the role', vectorIndexConformance(make))
    await runAll('with the role', [['an assistant works, and its doctor says so', () => serveWith(node)]])
    const [{ index_patterns, allowed_actions }] = role.index_permissions
    const less: [string, Role][] = [
      ...role.cluster_permissions.map((right): [string, Role] => [
        right,
        { ...role, cluster_permissions: role.cluster_permissions.filter((each) => each !== right) },
      ]),
      ...allowed_actions.map((right): [string, Role] => {
        const actions = allowed_actions.filter((each) => each !== right)
        return [right, { ...role, index_permissions: [{ index_patterns, allowed_actions: actions }] }]
      }),
    ]
    await runAll(
      'without a right',
      less.map(([right, rest], at) => [right, () => give(rest).then(() => mustRefuse(make(`less-${at}`)))]),
    )
  } finally {
    await cluster.stop()
  }
}

const row: IndexRow = {
  documentId: 'a',
  generation: 'a',
  position: 0,
  text: 'A heron.',
  searchText: 'heron',
  chunkMetadata: '{}',
  source: 'web',
  tags: [],
  pairs: [1],
  updatedAt: 0,
  ownUpdatedAt: 0,
  createdAt: 0,
}

async function mustRefuse(index: VectorIndex): Promise<void> {
  const work = async (): Promise<void> => {
    await index.open(undefined)
    await index.mark!('a')
    await index.append([row, { ...row, generation: 'b' }])
    await index.search({ text: 'heron', limit: 1 })
    await index.read('a', 0, 0)
    await index.remove(['a'])
    await index.maintain({ idle: true })
    await index.drop!()
  }
  const failure = await work().catch((error: unknown) => error)
  if (!/lacks a permission.*INLAY_INDEX_URL/.test(String(failure))) throw new Error(`It ended with: ${String(failure)}`)
}

async function serveWith(node: string): Promise<void> {
  const { path: dataFolder, remove } = temporaryFolder()
  const index = node.replace('//', `//${username}:${password}@`)
  const { knowledge, close } = createInlay({ dataFolder, index })
  try {
    await knowledge.start()
    const document = { id: 'a', semantic_identifier: 'A', metadata: {}, sections: [{ text: 'A heron.' }] }
    const find = async (count: number): Promise<void> => {
      await knowledge.whenIdle()
      const passages = await knowledge.search({ text: 'heron', limit: 5 })
      if (passages.length !== count) throw new Error(`${passages.length} passages, not ${count}`)
    }
    await knowledge.accept({ document })
    await find(1)
    await knowledge.reindex()
    await find(1)
    const isReplaced = async (): Promise<true | undefined> =>
      (await fetch(`${node}/inlay`, { headers: administrator })).status === 404 || undefined
    await eventually('the index before is gone', isReplaced)
    const env = { ...process.env, INLAY_DATA: dataFolder, INLAY_INDEX_URL: index }
    execFileSync(process.execPath, ['--conditions=@inlay/source', 'packages/inlay/src/cli.ts', 'doctor', '--offline'], {
      env,
    })
    await knowledge.remove('a')
    await find(0)
  } finally {
    await close()
    remove()
  }
}
