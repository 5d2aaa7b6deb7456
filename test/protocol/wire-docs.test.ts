import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createLineDecoder, errorTable, packetTypes } from '@inlay/protocol'
import { fillWirePage, wirePage } from '../../packages/protocol/scripts/wire-docs.ts'

const page = readFileSync(wirePage, 'utf8')

describe('the page of the wire', () => {
  it('is what the schemas say now', () => {
    expect(page).toBe(fillWirePage(page))
  })

  it('has every packet with an example that a client can read', () => {
    const examples = [...page.matchAll(/^```json\n(.*)\n```/gm)].map((match) => match[1] ?? '')
    expect(examples.map((json) => (JSON.parse(json) as { type: string }).type)).toEqual([...packetTypes])
    for (const type of packetTypes) expect(page).toContain(`\n### ${type}\n`)
    for (const json of examples) {
      const [read] = createLineDecoder('lines').push(`{"placement": {"turn_index": 0}, "obj": ${json}}\n`)
      expect(read?.line).toHaveProperty('obj')
    }
  })

  it('has every code of a failure', () => {
    for (const code of Object.keys(errorTable)) expect(page).toContain(`| ${code} |`)
  })
})
