import { readFileSync } from 'node:fs'
import { createTelemetry } from '@inlay/telemetry'
import { expect, test } from 'vitest'

/** Every name that the metrics of a new assistant have, with its labels. */
async function knownNames(): Promise<ReadonlySet<string>> {
  const figures = { documents: { pending: 0, indexing: 0, indexed: 0, failed: 0 }, oldestWaitingMs: 0 }
  const embedder = { recorded: null, configured: null, isUsed: true, indexes: true }
  const telemetry = createTelemetry('1.2.3')
  await telemetry.request(new Request('http://host.example/health'), '/health', async () => new Response())
  telemetry.readFrom({ figures: async () => ({ ...figures, embedder, ageMs: 0 }) })
  const { text } = await telemetry.metrics()
  const families = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)]
  return new Set(
    families.flatMap(([, name = '', type]) =>
      type === 'histogram' ? ['bucket', 'sum', 'count'].map((end) => `${name}_${end}`) : [name],
    ),
  )
}

test.each(['docs/1.guide/observe/grafana.json', 'docs/1.guide/observe/alerts.yml'])(
  '%s asks for metrics that exist',
  async (file) => {
    const known = await knownNames()
    const mentioned =
      readFileSync(file, 'utf8').match(/\b(?:http_server|db_client|gen_ai_\w+?|inlay|nodejs|process)_\w+/g) ?? []
    const labels =
      /^(?:http_(?:route|response_status_code)|db_client_connection_(?:pool_name|state)|gen_ai_(?:request_model|token_type)|inlay_(?:run_status|result|engine|call|limit|limit_of|key_id))$/
    const names = [...new Set(mentioned)].filter((name) => !labels.test(name))
    expect(names.length).toBeGreaterThan(4)
    expect(names.filter((name) => !known.has(name))).toEqual([])
  },
)

test('the health page of administrators reads metrics that exist', async () => {
  const known = await knownNames()
  const source = readFileSync('packages/page/src/health/latencies.ts', 'utf8')
  const names = [...source.matchAll(/'(\w+_seconds)'/g)].map(([, name = '']) => name)
  expect(names.length).toBe(5)
  expect(names.filter((name) => !known.has(`${name}_bucket`))).toEqual([])
})

test('the page lists every metric of ours', async () => {
  const page = readFileSync('docs/1.guide/17.observe.md', 'utf8')
  const ours = [...(await knownNames())].filter((name) => /^(?:inlay|gen_ai|http|db)/.test(name))
  const isListed = (name: string): boolean => page.includes(`\`${name}\``)
  const missing = ours.filter((name) => !isListed(name) && !isListed(name.replace(/_(?:bucket|sum|count)$/, '')))
  expect(missing).toEqual([])
})

test('each alert leads to its section of the page', () => {
  const rules = readFileSync('docs/1.guide/observe/alerts.yml', 'utf8')
  const page = readFileSync('docs/1.guide/17.observe.md', 'utf8')
  const alerts = [...rules.matchAll(/alert: (\w+)/g)].map(([, name = '']) => name)
  const links = [...rules.matchAll(/runbook_url: \S+\/17\.observe\.md#(\w+)/g)].map(([, anchor]) => anchor)
  expect(links).toEqual(alerts.map((name) => name.toLowerCase()))
  expect([...page.matchAll(/^### (Inlay\w+)$/gm)].map(([, name]) => name)).toEqual(alerts)
})
