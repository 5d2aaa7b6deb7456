/** Runs the conformance tests of indexes against a real OpenSearch cluster, and its role: `npm run -w test/rigs check:opensearch`. */
import { opensearchIndex } from '@inlay/drivers/opensearch'
import type { VectorIndex } from '@inlay/knowledge'
import { vectorIndexConformance } from '@inlay/conformance'
import { folded, midFold } from '../../drivers/index-states.ts'
import { runAll } from './run-all.ts'
import { startCluster } from './opensearch-cluster.ts'
import { tryRole } from './opensearch-role.ts'

const cluster = await startCluster()
try {
  const make =
    (layout: { shards: number }, wrap = (index: VectorIndex) => index) =>
    (store: string): VectorIndex => {
      const prefix = `${wrap.name}-${layout.shards}-${store.toLowerCase().replace(/[^a-z0-9]/g, '-')}`.toLowerCase()
      return wrap(opensearchIndex({ nodes: cluster.nodes, prefix: prefix.replace(/^-/, 'plain-'), ...layout }))
    }
  await runAll('one part', vectorIndexConformance(make({ shards: 1 })))
  await runAll('three parts, folded', vectorIndexConformance(make({ shards: 3 }, folded)))
  await runAll('three parts, amid a fold', vectorIndexConformance(make({ shards: 3 }, midFold)))
} finally {
  await cluster.stop()
}
// Maven Central has no security plugin of the other release.
if ((process.env['INLAY_OPENSEARCH'] ?? '2') === '2') await tryRole()
