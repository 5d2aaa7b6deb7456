import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { providerNames, providers } from '../../stand-in/providers/index.ts'
import { converse } from './official-clients.ts'

// What the official clients send must pass: a stand-in that refuses it has a rule that its provider does not have.

const passed = { texts: ['It is mild.', 'It is mild.', 'It is mild.'], refused: [] }

test.each(providerNames.filter((name) => name !== 'bedrock'))(
  '%s takes three turns of its official client, streamed and whole',
  async (name) => {
    expect(await converse(name)).toEqual(passed)
  },
)

test('bedrock takes three turns of its official client, streamed and whole', async () => {
  // A process of its own: under the conditions of the tests, the client's modules for bundlers are chosen.
  const child = join(import.meta.dirname, 'official-client-child.ts')
  const node = ['--conditions=@inlay/source', child, 'bedrock']
  const { stdout } = await promisify(execFile)(process.execPath, node, { env: { ...process.env, NODE_OPTIONS: '' } })
  expect(JSON.parse(stdout)).toEqual(passed)
})

test('the guide tells of each provider what was tried', () => {
  const guide = readFileSync('docs/1.guide/5.models.md', 'utf8')
  expect(providerNames.filter((name) => !guide.includes(`\n| ${providers[name].title} | `))).toEqual([])
})
