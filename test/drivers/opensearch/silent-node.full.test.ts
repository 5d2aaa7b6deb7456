import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createCluster } from '@inlay/drivers/internal/opensearch/transport'
import { opensearchIndex } from '@inlay/drivers/opensearch'
import { expect, onTestFinished, test } from 'vitest'

/** A node of a cluster; a frozen one takes requests and says nothing. */
async function startNode(answer?: (path: string, response: ServerResponse) => void) {
  const paths: string[] = []
  const server = createServer((request, response) => {
    paths.push(request.url!)
    answer?.(request.url!, response)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, paths }
}

const empty = (path: string, response: ServerResponse): void => {
  const mapping = { 'inlay-000001': { mappings: { _meta: { space: '' } } } }
  const none = { responses: [{ hits: { hits: [] } }] }
  response.end(JSON.stringify(path.endsWith('/_mapping') ? mapping : path.endsWith('/_msearch') ? none : {}))
}

test('a frozen node holds the first search up for a second or two, and later ones not at all', async () => {
  const [frozen, healthy] = [await startNode(), await startNode(empty)]
  // Which node comes first is random.
  for (const nodes of [
    [frozen.address, healthy.address],
    [healthy.address, frozen.address],
  ]) {
    const index = opensearchIndex({ nodes })
    const began = performance.now()
    await index.open()
    expect(await index.search({ text: 'heron', limit: 5 })).toEqual([])
    expect(performance.now() - began).toBeLessThan(4_000)
    const again = performance.now()
    expect(await index.search({ text: 'heron', limit: 5 })).toEqual([])
    expect(performance.now() - again).toBeLessThan(900)
    await index.close()
  }
})

test('a call that nobody waits for goes to one node at a time', async () => {
  const slow = await startNode((_, response) => void setTimeout(() => response.end('{}'), 1_500))
  const nodes = [slow.address, slow.address]
  await createCluster({ nodes })({ path: '/inlay/_bulk', body: [] })
  expect(slow.paths).toEqual(['/inlay/_bulk'])
  await createCluster({ nodes })({ path: '/inlay/_search', body: {}, isAwaited: true })
  expect(slow.paths.slice(1)).toEqual(['/inlay/_search', '/inlay/_search'])
})

test('a search that only one frozen node can answer is refused after one look at it, and sooner the next time', async () => {
  const frozen = await startNode()
  const search = createCluster({ nodes: frozen.address })
  const took = async (): Promise<number> => {
    const began = performance.now()
    await expect(search({ path: '/inlay/_search', body: {}, isAwaited: true, tries: 3 })).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
    })
    return performance.now() - began
  }
  expect(await took()).toBeLessThan(11_000)
  expect(await took()).toBeLessThan(6_500)
}, 30_000)
