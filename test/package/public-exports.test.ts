import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as conformance from '@inlay/conformance'
import * as wire from '@inlay/protocol'
import * as administration from '@inlay/protocol/administration'
import * as inlay from 'inlay'
import * as agent from 'inlay/agent'
import * as client from 'inlay/client'
import * as drivers from 'inlay/drivers'
import * as knowledge from 'inlay/knowledge'
import * as kysely from 'inlay/kysely'
import * as protocol from 'inlay/protocol'
import * as server from 'inlay/server'
import * as testing from 'inlay/testing'
import { expect, test } from 'vitest'

/** Names of the types that an entry exports: those that it lists, and those of modules that it exports whole. */
function typesOf(file: string): string[] {
  const source = readFileSync(file, 'utf8')
  const listed = [...source.matchAll(/^export (type )?\{([^}]*)\}/gm)].flatMap(([, isType, list]) =>
    list!
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '' && (isType !== undefined || name.startsWith('type ')))
      .map((name) => name.replace(/^type /, '').replace(/^\w+ as /, '')),
  )
  const declared = [...source.matchAll(/^export (?:interface|type) (\w+)/gm)].map(([, name]) => name!)
  const whole = [...source.matchAll(/^export (?:type )?\* from '(.+)'/gm)].flatMap(([, module = '']) =>
    typesOf(
      module.startsWith('@') ? `packages/${module.replace('@inlay/', '')}/src/index.ts` : join(file, '..', module),
    ),
  )
  return [...listed, ...declared, ...whole]
}

const remedy =
  'The public interface has changed. If you mean it, update the list: ' +
  'npx vitest run --project unit test/package/public-exports.test.ts -u'

test.each([
  ['conformance', conformance, typesOf('packages/conformance/src/index.ts')],
  ['inlay', inlay, typesOf('packages/inlay/src/index.ts')],
  ['inlay-protocol', protocol, typesOf('packages/inlay/src/entries/protocol.ts')],
  ['protocol', wire, typesOf('packages/protocol/src/index.ts')],
  ['protocol-administration', administration, typesOf('packages/protocol/src/administration/index.ts')],
  ['inlay-kysely', kysely, typesOf('packages/inlay/src/entries/kysely.ts')],
  ['inlay-agent', agent, typesOf('packages/agent/src/index.ts')],
  ['inlay-client', client, typesOf('packages/client/src/index.ts')],
  ['inlay-drivers', drivers, []],
  ['inlay-knowledge', knowledge, typesOf('packages/knowledge/src/index.ts')],
  ['inlay-server', server, typesOf('packages/server/src/index.ts')],
  ['inlay-testing', testing, []],
])('%s exports what its list names, and nothing else', async (name, entry, types) => {
  const lines = [...Object.keys(entry).toSorted(), ...[...new Set(types)].toSorted().map((type) => `type ${type}`)]
  await expect(`${lines.join('\n')}\n`, remedy).toMatchFileSnapshot(`./public-exports/${name}.txt`)
})

test('each entry of conformance exports the types of its list, so that hosts can name what they hand in', async () => {
  const { exports } = JSON.parse(readFileSync('packages/conformance/package.json', 'utf8')) as {
    readonly exports: Readonly<Record<string, { readonly '@inlay/source'?: string }>>
  }
  const lines = Object.entries(exports).flatMap(([entry, { '@inlay/source': source }]) =>
    source === undefined || entry === '.' || source.includes('*')
      ? []
      : typesOf(join('packages/conformance', source)).map((type) => `${entry} type ${type}`),
  )
  await expect(`${lines.toSorted().join('\n')}\n`, remedy).toMatchFileSnapshot(
    './public-exports/conformance-entries.txt',
  )
})
